import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')

/** What is CommonJS asks for the modules of Node by `require`, which a module does not have. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'\nconst require = requireOf(import.meta.url)`

/** A script in the sources, and its name in the bundle. */
export type Entry = { entry: string; name: string }

/**
 * Bundles programs with everything they need into a folder, and says which packages are in it. What
 * several need, and what only some commands load, is in files of its own. The bytes are the same in
 * every clone, because all paths are those in the repository.
 */
export async function bundle(
  entries: Entry | Entry[],
  folder: string,
  { external = [], minify = false }: { external?: string[]; minify?: boolean } = {},
): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entries].flat().map(({ entry, name }) => ({ in: entry, out: name })),
    // Nothing is written there: the maps name the sources as seen from it.
    outdir: join(ROOT, 'dist'),
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external,
    minify,
    keepNames: minify,
    banner: { js: REQUIRE },
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // A clone may have its packages elsewhere.
    preserveSymlinks: true,
    logLevel: 'warning',
  })
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, contents } of outputFiles)
    writeFileSync(join(folder, basename(path)), contents)
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput ? [path] : [])),
  )
  return packagesOf(inputs)
}

function packagesOf(paths: string[]): string[] {
  const names = paths.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

const NO_TEXT = 'The package names this licence and has no file with its text.'

/** The licences of packages, which ask to be given along with what is made of them. */
export function licencesOf(packages: string[]): string {
  const texts = packages.map((path) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(ROOT, path, 'package.json'), 'utf8'),
    )
    const [file] = globSync('{LICEN[CS]E,licen[cs]e,COPYING}*', { cwd: join(ROOT, path) }).sort()
    const text = file ? readFileSync(join(ROOT, path, file), 'utf8').trim() : NO_TEXT
    return `## ${name} ${version} (${license})\n\n${text}\n`
  })
  return `# Licences of the packages in this one\n\n${texts.join('\n')}`
}
