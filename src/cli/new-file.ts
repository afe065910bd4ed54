import { existsSync, rmSync } from 'node:fs'
import { type FileHandle, link, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Why a file cannot be made. `option` is what has named it. */
export function newFileFault(option: string, path: string): string | null {
  if (existsSync(path)) return `${option}: ${path} exists already; choose another name`
  return existsSync(dirname(path)) ? null : `${option}: there is no folder ${dirname(path)}`
}

/** Creates the file only when it is complete and on the disk, and never replaces another. */
export async function intoNewFile<R>(
  path: string,
  act: (file: FileHandle) => Promise<R>,
): Promise<R> {
  const part = `${path}.${process.pid}.part`
  // Remove the incomplete file when the process ends, also after an error.
  const remove = () => rmSync(part, { force: true })
  process.once('exit', remove)
  const file = await open(part, 'wx', 0o600)
  try {
    const result = await act(file)
    await file.sync()
    // A link fails if the file exists by now. A rename would replace it.
    await link(part, path)
    await syncFolder(dirname(path))
    return result
  } finally {
    await file.close()
    await unlink(part).catch(() => {})
    process.off('exit', remove)
  }
}

/** Until then a power cut may take the name back. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
