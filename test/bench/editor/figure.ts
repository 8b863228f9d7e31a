/** Measured number of a view. */
export interface Figure {
  name: string;
  value: number;
  unit: 'ms' | 'MB' | 'KB' | 'nodes';
  /** Largest value that is accepted, on a machine that does nothing else. */
  limit?: number;
}
