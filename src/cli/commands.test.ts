import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCommand, helpOf, parse } from './command.ts'
import { loadSections } from './commands.ts'

const commands = (await loadSections()).flatMap((section) => section.commands)

/** The words of a line as a shell splits it. The examples need no more than quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

test('every command has a name of its own', () => {
  assert.deepEqual([...new Set(commands.map(({ name }) => name))].length, commands.length)
})

for (const command of commands) {
  test(`the example of ${command.name} can be typed, and its help shows it`, () => {
    const [program, ...words] = wordsOf(command.example)
    assert.equal(program, 'vintem')
    assert.equal(findCommand(commands, words), command)
    parse(command, words.slice(command.name.split(' ').length))
    assert.ok(helpOf(command).includes(`Example:\n  ${command.example}\n`))
  })
}

test('an option that can be given several times is a list, and a value that is not offered is refused', () => {
  const command = {
    ...commands[0]!,
    operands: ['shell'],
    choices: { shell: ['bash'] },
    options: {
      set: { value: 'FIELD', many: true, help: '' },
      status: { value: 'STATUS', choices: ['OPEN'], help: '' },
    },
  } as const
  const typed = parse({ ...command, operands: ['shell'] }, ['bash', '--set', 'a=1', '--set', 'b=2'])
  assert.deepEqual([typed.lists, typed.options], [{ set: ['a=1', 'b=2'] }, {}])
  const refused = (...argv: string[]) => {
    assert.throws(() => parse({ ...command, operands: ['shell'] }, argv), /must be one of/)
  }
  refused('fish')
  refused('bash', '--status', 'PAID')
})
