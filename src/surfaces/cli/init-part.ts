/** One thing that `init` sets up. Each part says what it would do before anybody is asked. */
export interface InitPart {
  name: string;
  /** What would be done, a sentence each; none when there is nothing left to do. */
  proposals: readonly string[];
  /** What is worth knowing besides. */
  notes: readonly string[];
  /** It changes something outside of the project, so that somebody is asked first. */
  isOutside: boolean;
  /** How to look at it, and the way back. */
  after: string;
  /** Does it, and returns what is left to the user, a sentence each. */
  apply(): string[];
}
