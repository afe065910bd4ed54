import { VERSIONS } from '../../src/versions/history.ts'
import { typesDocument } from './document.ts'
import { operationTypes, resourcesFile } from './resources.ts'

export const FOLDER = 'packages/client/src/generated'

/** The generated files of the client and what each is made from. */
export function clientSources(): { path: string; source: string }[] {
  const types = VERSIONS.map((version) => ({
    path: `${FOLDER}/api-${version.name}.ts`,
    source: JSON.stringify(typesDocument(version)) + operationTypes(),
  }))
  return [...types, { path: `${FOLDER}/resources.ts`, source: resourcesFile() }]
}
