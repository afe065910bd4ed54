import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * Counts how large the product is, of this folder or of another clone: what one person has to hold
 * in their head. Lines and files are those of `src` and `packages` without tests; a constant is a
 * name in capitals with a number; a name is used by one file if only one other file imports it.
 */
const root = resolve(process.argv[2] ?? '.')
const files = globSync(['src/**/*.ts', 'packages/*/{src,lib}/**/*.ts', 'packages/*/*.ts'], {
  cwd: root,
}).filter((path) => !/\.test\.ts$|\.d\.ts$|node_modules|generated|dist\//.test(path))
const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]))

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
const sum = (pattern: RegExp): number =>
  [...texts.values()].reduce((all, text) => all + count(text, pattern), 0)

const EXPORT = /^export (?:async )?(?:const|function\*?|class|type|interface) (\w+)/gm
const IMPORT = /(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g

/** Who imports what: for each file its importers, and for each of its names those that use it. */
const importers = new Map<string, Set<string>>()
const users = new Map<string, Set<string>>()
const add = (map: Map<string, Set<string>>, key: string, user: string) =>
  map.set(key, (map.get(key) ?? new Set()).add(user))
for (const [path, text] of texts) {
  for (const [, names, from] of text.matchAll(IMPORT)) {
    if (!from!.startsWith('.')) continue
    const target = join(dirname(path), from!)
    add(importers, target, path)
    for (const name of names!.split(',')) {
      const [own] = name
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      if (own) add(users, `${target} ${own}`, path)
    }
  }
}
const names = [...texts].flatMap(([path, text]) =>
  [...text.matchAll(EXPORT)].map(([, name]) => `${path} ${name}`),
)
const usedBy = (n: number) => names.filter((name) => (users.get(name)?.size ?? 0) === n).length

const migrations = globSync(['migrations/*.sql', 'migrations/before-baseline/*.sql'], { cwd: root })
const baseline = migrations.find((path) => path.endsWith('baseline.sql'))
const sql = (baseline ? [baseline] : migrations).map((path) =>
  readFileSync(join(root, path), 'utf8'),
)
const inSql = (pattern: RegExp) => sql.reduce((all, text) => all + count(text, pattern), 0)

const figures = {
  'product lines': sum(/\n/g),
  'product files': files.length,
  'exported names': names.length,
  'exported names used by one other file': usedBy(1),
  'files imported by exactly one other': files.filter((path) => importers.get(path)?.size === 1)
    .length,
  'constants with a number': sum(/^(?:export )?const [A-Z][A-Z0-9_]*(?:_[a-z]+)? = [\d(]/gm),
  [baseline ? 'tables' : 'tables ever created']: inSql(/^ *create (?:unlogged )?table/gim),
  [baseline ? 'indexes' : 'indexes ever created']: inSql(/^ *create (?:unique )?index/gim),
}
for (const [name, figure] of Object.entries(figures)) console.log(`${figure}\t${name}`)
