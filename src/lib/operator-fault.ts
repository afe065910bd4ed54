/** Something that whoever operates the service can fix. The message says what, and what to do. */
export class OperatorFault extends Error {
  override name = 'OperatorFault'
  /** The exit code of a server that cannot start for this reason. */
  exitCode = 1
}
