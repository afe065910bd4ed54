import { allOptions, type Command, type Section } from './command.ts'

/** A command as completion sees it. */
type Node = { words: string[]; summary: string; options: Known[]; operands: readonly string[] }
type Known = {
  name: string
  help: string
  values: readonly string[]
  kind: 'switch' | 'file' | 'text'
}

function nodeOf(command: Command): Node {
  const { name, summary, choices = {}, operands } = command
  const options = allOptions(command).map(([name, { value, choices = [], help }]): Known => {
    const kind = value === undefined ? 'switch' : value === 'FILE' ? 'file' : 'text'
    return { name: `--${name}`, help, values: choices, kind }
  })
  return { words: name.split(' '), summary, options, operands: choices[operands[0] ?? ''] ?? [] }
}

/** The first words of all commands, with the second words that can follow each. */
function nounsOf(nodes: Node[]): [noun: string, nodes: Node[]][] {
  return [...Map.groupBy(nodes, ({ words }) => words[0]!)]
}

const describeNoun = (nodes: Node[]): string =>
  nodes.length === 1 ? nodes[0]!.summary : nodes.map(({ words }) => words[1]).join(', ')

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const SHELLS = { bash, zsh, fish }
type Shell = keyof typeof SHELLS
const SHELL_NAMES = Object.keys(SHELLS) as Shell[]

/** A script that completes words, options and values of all commands in a shell. */
function completionFor(shell: Shell, commands: Command[]): string {
  return `${SHELLS[shell](commands.map(nodeOf)).trim()}\n`
}

/** The command that prints that script, for the commands of a program. */
export const completionOf = (loadSections: () => Promise<Section[]>): Command => ({
  name: 'completion',
  summary: 'Print a script that completes commands, options and values in your shell.',
  example: 'vintem completion bash',
  operands: ['shell'],
  choices: { shell: SHELL_NAMES },
  options: {},
  async run({ operands }) {
    const commands = (await loadSections()).flatMap((section) => section.commands)
    const script = completionFor(operands[0] as Shell, commands)
    return { json: { script }, text: script }
  },
})

/** What bash and zsh offer for a command, by the word before. */
function repliesIn(nodes: Node[], assign: (words: readonly string[]) => string, files: string) {
  return nodes.map(({ words, options, operands }) => {
    const values = options.flatMap(({ name, kind, values }) => {
      if (kind === 'switch') return []
      return [
        `        ${name}) ${values.length > 0 || kind === 'text' ? assign(values) : files} ;;`,
      ]
    })
    const others = assign([...operands, ...options.map(({ name }) => name)])
    return `    ${quote(words.join(' '))})
      case "$previous" in
${values.join('\n')}
        *) ${others} ;;
      esac ;;`
  })
}

/** The lines that offer the second word of a command. */
const secondWords = (nodes: Node[], assign: (nodes: Node[]) => string): string =>
  nounsOf(nodes)
    .filter(([, ofNoun]) => ofNoun[0]!.words.length > 1)
    .map(([noun, ofNoun]) => `      ${quote(noun)}) ${assign(ofNoun)}; return ;;`)
    .join('\n')

function bash(nodes: Node[]): string {
  const assign = (words: readonly string[]) => `replies=${quote(words.join(' '))}`
  const first = [...nounsOf(nodes).map(([noun]) => noun), 'help', '--version', '--help']
  const fill = 'COMPREPLY=($(compgen -W "$replies" -- "$current"))'
  return `
# Completion of vintem for bash. Load it with: source <(vintem completion bash)
_vintem() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") replies=
  COMPREPLY=()
  if [[ \${words[0]} == help ]]; then words=("\${words[@]:1}"); fi
  if (( \${#words[@]} == 0 )); then
    ${assign(first)}
    ${fill}
    return
  fi
  if (( \${#words[@]} == 1 )); then
    case "\${words[0]}" in
${secondWords(nodes, (ofNoun) => `${assign(ofNoun.map(({ words }) => words[1]!))}; ${fill}`)}
    esac
  fi
  local command="\${words[0]} \${words[1]}"
  case "\${words[0]}" in
    ${nodes.flatMap(({ words }) => (words.length === 1 ? words : [])).join('|')}) command=\${words[0]} ;;
  esac
  case "$command" in
${repliesIn(nodes, assign, 'COMPREPLY=($(compgen -f -- "$current")); return').join('\n')}
  esac
  ${fill}
}
complete -o filenames -F _vintem vintem`
}

const described = (entries: [word: string, text: string][]): string =>
  entries.map(([word, text]) => quote(`${word.replaceAll(':', '\\:')}:${text}`)).join(' ')

function zsh(nodes: Node[]): string {
  const assign = (words: readonly string[]) => `compadd -- ${words.map(quote).join(' ')}`
  const first = nounsOf(nodes).map(([noun, ofNoun]): [string, string] => [
    noun,
    describeNoun(ofNoun),
  ])
  const offer = (entries: [string, string][]) =>
    `replies=(${described(entries)}); _describe command replies`
  const seconds = (ofNoun: Node[]) =>
    offer(ofNoun.map(({ words, summary }) => [words[1]!, summary]))
  return `
#compdef vintem
# Completion of vintem for zsh. Load it with: source <(vintem completion zsh)
_vintem() {
  local -a replies typed
  local previous=\${words[CURRENT-1]}
  typed=("\${(@)words[2,CURRENT-1]}")
  if [[ \${typed[1]} == help ]]; then shift typed; fi
  if (( \${#typed} == 0 )); then
    ${offer(first)}
    return
  fi
  if (( \${#typed} == 1 )); then
    case "\${typed[1]}" in
${secondWords(nodes, seconds)}
    esac
  fi
  local command="\${typed[1]} \${typed[2]}"
  case "\${typed[1]}" in
    ${nodes.flatMap(({ words }) => (words.length === 1 ? words : [])).join('|')}) command=\${typed[1]} ;;
  esac
  case "$command" in
${repliesIn(nodes, assign, '_files').join('\n')}
  esac
}
if [[ \${funcstack[1]} == _vintem ]]; then
  _vintem "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _vintem vintem
fi`
}

function fish(nodes: Node[]): string {
  const text = (words: string) => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const line = (path: string[], rest: string) =>
    `complete -c vintem -n ${text(`__vintem_after ${path.join(' ')}`)} ${rest}`
  const nouns = nounsOf(nodes).flatMap(([noun, ofNoun]) => [
    `complete -c vintem -n __vintem_first -a ${noun} -d ${text(describeNoun(ofNoun))}`,
    ...ofNoun.flatMap(({ words: [, second], summary }) =>
      second
        ? [`complete -c vintem -n '__vintem_noun ${noun}' -a ${second} -d ${text(summary)}`]
        : [],
    ),
  ])
  const options = nodes.flatMap(({ words, options, operands }) => [
    ...(operands.length > 0 ? [line(words, `-a ${text(operands.join(' '))}`)] : []),
    ...options.map(({ name, help, values, kind }) => {
      const value = { switch: '', file: ' -rF', text: ' -x' }[kind]
      const offered = values.length > 0 ? ` -a ${text(values.join(' '))}` : ''
      return line(words, `-l ${name.slice(2)}${value}${offered} -d ${text(help)}`)
    }),
  ])
  return `
# Completion of vintem for fish. Load it with: vintem completion fish | source
function __vintem_words
  set -l words (commandline -opc)[2..]
  if test "$words[1]" = help
    set -e words[1]
  end
  string join \\n -- $words
end
function __vintem_first
  test (count (__vintem_words)) -eq 0
end
function __vintem_noun
  set -l words (__vintem_words)
  test (count $words) -eq 1; and test "$words[1]" = "$argv[1]"
end
function __vintem_after
  set -l words (__vintem_words)
  set -l last (count $argv)
  test "$words[1..$last]" = "$argv"
end
complete -c vintem -f
${[...nouns, ...options].join('\n')}`
}
