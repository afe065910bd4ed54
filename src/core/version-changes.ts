/** How an operation answers differently in another version. */
export type VersionChange = {
  operationId: string
  method: string
  path: string
  /** Whether the frame around the answer is another one. */
  hasOtherFrame: boolean
  /** Whether errors have another form. */
  hasOtherErrors: boolean
  /** Values that are spelled otherwise, such as RECIEVED and RECEIVED. */
  values: { before: string; after: string }[]
}

/** What changes between two versions, for each operation of the API that changes. */
export type CompareVersions = (before: string, after: string) => VersionChange[]
