/** What is debugged: a source text as it was at launch, and how it is entered. */
export interface Program {
  /** The file's absolute path; for a text without a file, a label in angle brackets. */
  readonly path: string;
  /** The decoded text, without a byte order mark; line ends as in the file. */
  readonly source: string;
  /** The call that is debugged, as Python source (`f(3, 'x')`); null: the file as a script. */
  readonly entry: string | null;
  /** The script's arguments: `sys.argv[1:]`. */
  readonly args: readonly string[];
}
