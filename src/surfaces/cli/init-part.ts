/** One thing that `init` sets up. Each part says what it would do before anybody is asked. */
export interface InitPart {
  name: string;
  /** What would be done, a sentence each; none when there is nothing left to do. */
  proposals: readonly string[];
  /** What is worth knowing besides. */
  notes: readonly string[];
  /** Does it, and returns what is left to the user, a sentence each. */
  apply(): string[];
}
