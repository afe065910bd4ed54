import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { temporaryFolder } from '../support/process.ts'
import { install } from './installed.ts'

/**
 * The chart of deploy/helm, rendered by the template engine of Helm (Go and sprig, of Debian) and
 * checked against the schemas of Kubernetes.
 */
const CHART = join(import.meta.dirname, '../../deploy/helm/vintem')
const RENDER = join(import.meta.dirname, 'helm/render.go')
/** Where Debian keeps the sources of packages for Go. */
const GOPATH = '/usr/share/gocode'

const { folder, missing } = install('helm')
const hasGo = spawnSync('go', ['version']).status === 0
const skip = missing || (!hasGo && 'apt-get install golang-go golang-github-masterminds-sprig-dev')

type Resource = { apiVersion: string; kind: string; spec: Record<string, unknown> }

function render(values: Record<string, unknown>): { resources: Resource[]; fault: string } {
  const path = join(temporaryFolder(), 'values.yaml')
  writeFileSync(path, JSON.stringify(values))
  const { stdout, stderr, status } = spawnSync('go', ['run', RENDER, CHART, path], {
    env: { ...process.env, GOPATH, GO111MODULE: 'off', GOFLAGS: '', GOCACHE: temporaryFolder() },
    encoding: 'utf8',
  })
  if (status !== 0) return { resources: [], fault: stderr }
  const documents = parseAllDocuments(stdout).map((one) => one.toJS() as Resource | null)
  return { resources: documents.filter((one) => one !== null), fault: '' }
}

/** Throws with the field and the rule if Kubernetes would refuse it. */
async function check(resource: Resource): Promise<void> {
  const models = join(folder, 'node_modules/kubernetes-models', resource.apiVersion, 'index.js')
  const { [resource.kind]: Model } = await import(pathToFileURL(models).href)
  new Model(resource).validate()
}

const image = { repository: 'registry.example.com/vintem' }
const publicUrl = 'https://pix.example.com'

test('what the chart makes is what Kubernetes takes', { skip }, async () => {
  const ingress = { enabled: true, className: 'nginx', tlsSecretName: 'pix-tls' }
  const options = { PROCESSES: 'auto', DATABASE_POOL_SIZE: 20 }
  const { resources, fault } = render({ image, publicUrl, ingress, options })
  assert.equal(fault, '')
  assert.deepEqual(resources.map(({ kind }) => kind).sort(), [
    'Deployment',
    'Ingress',
    'PodDisruptionBudget',
    'Service',
  ])
  for (const resource of resources) await check(resource)
  const broken = structuredClone(resources.find(({ kind }) => kind === 'Deployment')!)
  broken.spec.replicas = 'two'
  await assert.rejects(check(broken), /replicas/)
})

test('an ingress is made only if it is asked for, and what is missing is named', { skip }, () => {
  const { resources } = render({ image, publicUrl })
  assert.ok(!resources.some(({ kind }) => kind === 'Ingress'))
  assert.match(render({ publicUrl }).fault, /image.repository is missing/)
  assert.match(render({ image }).fault, /publicUrl is missing/)
})

test('chart and package have one version', () => {
  const { version } = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8'))
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
})
