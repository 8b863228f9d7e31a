/** Rule that an input breaks. Codes in capitals are also wire codes (G4.2). */
export type CatalogErrorCode =
  | 'not_a_string'
  | 'too_long'
  | 'missing_separator'
  | 'namespace_grammar'
  | 'name_grammar'
  | 'version_grammar'
  | 'hash8_grammar'
  | 'hash8_required'
  | 'unknown_kind'
  | 'unknown_kind_prefix'
  | 'missing_name'
  | 'missing_description'
  | 'missing_uri'
  | 'bad_tool'
  | 'bad_primitive'
  | 'duplicate_id'
  | 'card_invalid'
  | 'card_over_cap'
  | 'PATH_INVALID'
  | 'PATH_NOT_FOUND';

/** Deepest existing part of a path, and the alternatives to its next step. */
export interface MissingPath {
  parent: string;
  label: string;
  siblings: readonly string[];
}

/** Error of this room. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly code: CatalogErrorCode;
  /** Present for PATH_NOT_FOUND. */
  readonly missing: MissingPath | undefined;

  constructor(code: CatalogErrorCode, message: string, missing?: MissingPath) {
    super(message);
    this.code = code;
    this.missing = missing;
  }
}
