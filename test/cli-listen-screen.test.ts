import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { listenWith } from '../src/cli/client/listen.ts'
import type { Terminal } from '../src/cli/client/listen-view.ts'
import { payer, startApi } from './support/api.ts'
import { CLI } from './support/cli.ts'
import { inherited, temporaryFolder } from './support/process.ts'
import { startReceiver } from './support/receiver.ts'
import { until } from './support/until.ts'

process.env.XDG_CONFIG_HOME = temporaryFolder()
// No browser is opened.
process.env.PATH = temporaryFolder()

const api = await startApi()
/** What moves the cursor or changes how text looks. */
const STYLES = new RegExp(`${String.fromCharCode(27)}\\[[?\\d]*[A-Za-z]|\r(?!\\n)`, 'g')

/** A terminal whose screen is kept as text, and whose keys a test presses. */
function makeTerminal() {
  const input = new EventEmitter()
  const modes: boolean[] = []
  let written = ''
  const terminal: Terminal = {
    input: Object.assign(input, {
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
      resume() {},
      pause() {},
    }),
    output: Object.assign(new EventEmitter(), {
      write(text: string) {
        written += text
      },
      columns: 300,
      rows: 10,
    }),
  }
  return {
    terminal,
    modes,
    written: () => written,
    /** The list as it is drawn now. */
    list: () => written.slice(written.lastIndexOf('\x1b[J') + 3),
    press: (keys: string) => input.emit('data', Buffer.from(keys)),
  }
}

test('in a terminal an event is selected, sent again, shown in full and opened', async () => {
  const client = await api.client()
  const receiver = await startReceiver()
  const { terminal, modes, written, list, press } = makeTerminal()
  const options = { url: api.url, key: client.key, 'forward-to': receiver.url }
  const args = { operands: [], options, lists: {}, switches: new Set<string>() }
  const listening = listenWith(args, async () => {}, terminal)
  await until('it is ready', () => written().includes('Ready.'))
  const made = await client.post('/charge/pix', { amount: 500, customer: payer(), devMode: true })
  await client.post(`/charge/${made.body.data.id}/simulate-payment`)
  await until('three are shown', () => list().split('→ 200').length === 4)
  assert.match(list(), /❯ .*charge\.paid/)
  press('\x1b[A\x1bOA')
  assert.match(list(), /❯ .*charge\.pending/, 'two arrows up')
  press('\x1b[B')
  assert.match(list(), /❯ .*charge\.processing/)

  receiver.answer = (response) => response.writeHead(418).end('a \x1b[31mred\x07 teapot')
  press('r')
  await until('it is sent again', () => /❯ .*→ 418 in .*\(sent 2 times\)/.test(list()))
  assert.equal(receiver.received.length, 4)
  const [once, again] = [receiver.received[1]!, receiver.received[3]!]
  assert.deepEqual(
    [again.body, again.headers['webhook-id']],
    [once.body, once.headers['webhook-id']],
  )

  press('d')
  assert.match(written(), /"event": "Charge\.Processing"/)
  assert.match(written(), /^webhook-signature: v1,/m)
  assert.match(
    written(),
    /a \ufffd\[31mred\ufffd teapot/,
    'what a receiver sends is not carried out',
  )
  press('o')
  await until('the page is named', () => written().includes('http://vintem.test/pay/'))
  press('q')
  await listening
  assert.deepEqual(modes, [true, false], 'the terminal is as it was')
  assert.ok(written().endsWith('\x1b[?25h'))
  assert.match(list(), /charge\.paid/, 'the events stay')
  assert.doesNotMatch(list(), /q quit/)
})

test('in a real terminal of 80 columns answers are seen, and Ctrl-C leaves it as it was', async (t) => {
  // They are part of every Linux, but for the smallest containers.
  const [script, stty] = ['/usr/bin/script', '/usr/bin/stty']
  if (process.platform !== 'linux' || !existsSync(script) || !existsSync(stty)) {
    return t.skip('no script(1) or stty(1)')
  }
  const client = await api.client()
  const receiver = await startReceiver()
  const home = temporaryFolder()
  const command = [process.execPath, CLI, 'listen', '--forward-to', receiver.url].join(' ')
  const shell = `${stty} cols 80 rows 12; before=$(${stty} -g); ${command}; code=$?
    if [ "$before" = "$(${stty} -g)" ]; then echo "ended $code as before"; fi`
  const env = { ...inherited, VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: home }
  const child = spawn(script, ['-qfec', shell, '/dev/null'], {
    env: { ...env, SHELL: '/bin/sh', TERM: 'xterm' },
    cwd: home,
  })
  t.after(() => child.kill('SIGKILL'))
  let written = ''
  child.stdout.on('data', (chunk) => {
    written += chunk
  })
  await until('it is ready', () => /Ready\..*q quit/s.test(written))
  await client.post('/charge/pix', { amount: 500, customer: payer() })
  await until('the answer is seen', () =>
    /❯ .{8} {2}charge\.pending +→ 200 in \d+ ms/.test(written),
  )
  child.stdin.write('r')
  await until('it is sent again', () => /→ 200 in \d+ ms {2}\(sent 2 times\)/.test(written))
  const lines = written.replace(STYLES, '').split(/\r?\n/)
  const drawn = lines.filter((line) => line.includes('charge.pending'))
  assert.ok(drawn.length > 1 && drawn.every((line) => line.length < 80))
  child.stdin.write('\x03')
  await until('it has ended', () => written.includes('ended 0 as before'))
  assert.ok(written.includes('\x1b[?25h'), 'the cursor is seen')
})
