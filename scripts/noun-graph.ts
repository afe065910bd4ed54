import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const PAGE = 'docs/architecture.md'
const [BEGIN, END] = [
  '<!-- The graph of nouns, written by `npm run docs`. -->',
  '<!-- End of the graph. -->',
]

/** What each file of src imports of ours, types too. Tests do not count. */
export function importsOf(): Map<string, string[]> {
  const paths = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !/\.test/.test(path))
  return new Map(
    paths.sort().map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      const targets = [...text.matchAll(/(?:from|import|import\() ?'(\.[^']+)'/g)]
      return [path, targets.map(([, target]) => normalize(join(dirname(path), target!)))]
    }),
  )
}

/** The folder or file directly under src/core that a path belongs to. */
const nounOf = (path: string): string | null => /^src\/core\/([^/]+)/.exec(path)?.[1] ?? null

/** Which nouns of core each noun uses. */
export function nounGraph(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const [path, targets] of importsOf()) {
    const noun = nounOf(path)
    if (noun === null) continue
    const used = graph.get(noun) ?? new Set()
    graph.set(noun, used)
    for (const other of targets.map(nounOf)) if (other && other !== noun) used.add(other)
  }
  return graph
}

/** Names in an order in which each uses only those before it, and the names that are in a cycle. */
export function sortByUse(graph: Map<string, Iterable<string>>) {
  const ordered: string[] = []
  let left = [...graph.keys()].sort()
  for (;;) {
    const known = new Set(ordered)
    const next = left.filter((name) => [...graph.get(name)!].every((used) => known.has(used)))
    if (next.length === 0) return { ordered, cyclic: left }
    ordered.push(...next)
    left = left.filter((name) => !next.includes(name))
  }
}

function table(): string {
  const graph = nounGraph()
  const rows = sortByUse(graph).ordered.map((noun) => {
    const used = [...graph.get(noun)!].sort().map((name) => `\`${name}\``)
    return `| \`${noun}\` | ${used.join(', ')} |`
  })
  return `| noun | uses |\n|---|---|\n${rows.join('\n')}`
}

/** The architecture page with the graph as the code has it. */
export function architecturePage(): Record<string, string> {
  const text = readFileSync(join(ROOT, PAGE), 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${PAGE} has no part for the graph`)
  return { [PAGE]: `${before}${BEGIN}\n${table()}\n${END}${after}` }
}
