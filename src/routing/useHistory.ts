export interface UseHistory {
  entries: readonly unknown[];
}
