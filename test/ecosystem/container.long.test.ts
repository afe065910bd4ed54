import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { packInto } from '../../scripts/release.ts'
import { lowPort } from '../faults/victim.ts'
import { startApi } from '../support/api.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

/**
 * The image of deploy/container, built by buildah on a Debian that mmdebstrap makes, with this
 * Node.js in it, so that no registry of images is asked. It runs without root, and the kernel keeps
 * its root read-only.
 */
const ROOT = join(import.meta.dirname, '../..')
const CONTAINER = 'deploy/container'
const has = (program: string) => spawnSync('which', [program]).status === 0
const skip =
  process.getuid?.() !== 0
    ? 'Only root can mount the image.'
    : ['buildah', 'mmdebstrap', 'unshare'].every(has)
      ? false
      : 'apt-get install buildah mmdebstrap util-linux'

const store = join(temporaryFolder(), 'images')
const environment = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
const buildah = (...args: string[]) =>
  run('buildah', '--root', store, '--runroot', `${store}-run`, '--storage-driver', 'vfs', ...args)

/** Debian is the same for a day, so it is kept between runs. */
function debian(): string {
  const folder = join(ROOT, 'node_modules/.cache/ecosystem')
  const path = join(folder, 'debian.tar')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(path)) run('mmdebstrap', '--variant=minbase', 'bookworm', path)
  return path
}

/** Stands for the usual base: Debian with Node.js and npm. */
function makeBase(): string {
  const container = buildah('from', 'scratch')
  const root = buildah('mount', container)
  run('tar', '-xf', debian(), '-C', root)
  copyFileSync(realpathSync(process.execPath), join(root, 'usr/local/bin/node'))
  const npm = dirname(dirname(realpathSync(run('which', 'npm'))))
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  run('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container)
  buildah('commit', '--quiet', container, 'localhost/base')
  return 'localhost/base'
}

test('the image serves without root, and writes to /data and /tmp only', { skip }, async (t) => {
  after(() => spawnSync('umount', ['-R', store]))
  const context = temporaryFolder()
  mkdirSync(join(context, 'release'))
  await packInto(join(context, 'release'), 'vintem')
  copyFileSync(join(ROOT, '.dockerignore'), join(context, '.dockerignore'))
  const file = join(ROOT, CONTAINER, 'Containerfile')
  const options = ['--format', 'docker', '--build-arg', `BASE=${makeBase()}`, '--network', 'none']
  buildah('build', '--quiet', ...options, '-f', file, '-t', 'localhost/vintem', context)

  const { OCIv1: _, Docker: image } = JSON.parse(
    buildah('inspect', '--type', 'image', 'localhost/vintem'),
  )
  const { User, Entrypoint, Cmd, Healthcheck, Env } = image.config
  assert.deepEqual([User, Entrypoint, Cmd], ['1000:1000', ['vintem'], ['start']])

  const root = buildah('mount', buildah('from', 'localhost/vintem'))
  const api = await startApi()
  const port = String(await lowPort())
  const own = {
    PORT: port,
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://pix.example.com',
    ALLOW: 'mail-files',
  }
  const env = [
    ...Env,
    ...Object.entries({ ...own, DATABASE_URL: api.databaseUrl, SECRET_KEY: secretOf('image') }).map(
      (pair) => pair.join('='),
    ),
  ]
  const mounts = [
    `mount --bind ${root} ${root}`,
    `mount -o remount,ro,bind ${root}`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t tmpfs -o uid=1000,gid=1000,mode=700 tmpfs ${root}/data`,
    `mount -t proc proc ${root}/proc`,
  ]
  const inside = (command: string[]) =>
    spawn(
      'unshare',
      [
        '-m',
        'sh',
        '-c',
        [...mounts, `exec "$@"`].join(' && '),
        'sh',
        'env',
        '-i',
        ...env,
        '/usr/sbin/chroot',
        '--userspec=1000:1000',
        root,
        ...command,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
  const server = inside([...Entrypoint, ...Cmd])
  t.after(() => server.kill('SIGKILL'))
  let said = ''
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk) => {
      said += chunk
    })
  const answers = async () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      (reply) => reply.ok,
      () => server.exitCode !== null,
    )
  await until('the image serves', answers)
  assert.equal(server.exitCode, null, said)
  assert.equal((await fetch(`http://127.0.0.1:${port}/docs`)).status, 200)
  // The command that Docker runs, with the Node.js of the image and the port of this test.
  const [kind, ...check] = Healthcheck.Test
  assert.equal(kind, 'CMD')
  const [status] = await once(inside(check), 'exit')
  assert.equal(status, 0)
  const uids = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  assert.match(uids, /^Uid:\t1000\t1000/m)
  server.kill('SIGTERM')
  await until('it ends', () => server.exitCode !== null)
  assert.equal(server.exitCode, 0, said)
})
