/** Measured number of a view. */
export interface Figure {
  name: string;
  value: number;
  unit: 'ms' | 'MB' | 'KB' | 'nodes';
  /** Largest value that is accepted, on a machine that does nothing else. */
  limit?: number;
  /** Least value of all rounds, which other work on the machine disturbs least. */
  best?: number;
  worst?: number;
  /** Mean processor time of a round in milliseconds. */
  cpu?: Readonly<Record<string, number>>;
}
