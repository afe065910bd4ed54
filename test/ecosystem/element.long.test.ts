import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from '../../scripts/element/build.ts'
import { browsing } from '../browser/support.ts'
import { runIn } from '../guides/receiving.ts'
import { textOf } from '../guides/samples.ts'
import { freePort, inherited } from '../support/process.ts'
import { install } from './installed.ts'
import { callerOf, startSandbox } from './sandbox.ts'

const run = promisify(execFile)
const { folder: programs, missing } = install('element')
const { open } = browsing()

const program = (path: string): string => join(programs, 'node_modules', path)
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(program(`${name}/package.json`), 'utf8')).version

/** The guide's component, and a page that shows it with the address that it is opened with. */
const sampleOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(textOf('element'))![1]!
const SRC = `new URLSearchParams(location.search).get('src')`
const PAGES: Record<string, { package: string; files: Record<string, string> }> = {
  React: {
    package: 'react',
    files: {
      'Pix.tsx': sampleOf('tsx'),
      // Only compiled.
      'plain.ts': `import '@vintem/element'
const pix = document.querySelector('vintem-pix')!
pix.addEventListener('state', ({ detail }) => console.log(detail.state === 'paid', pix.state))
pix.addEventListener('click', ({ clientX }) => console.log(clientX))
`,
      'main.tsx': `import { createRoot } from 'react-dom/client'
import { Pix } from './Pix'
createRoot(document.getElementById('app')!).render(<Pix src={${SRC}!} />)
`,
      'index.html': page('main.tsx'),
    },
  },
  Vue: {
    package: 'vue',
    files: {
      'Pix.vue': sampleOf('vue'),
      'main.js': `import { createApp } from 'vue'
import Pix from './Pix.vue'
createApp(Pix, { src: ${SRC} }).mount('#app')
`,
      'index.html': page('main.js'),
    },
  },
}

function page(script: string): string {
  return `<!doctype html><html lang="pt-BR"><title>Loja</title><div id="app"></div>
<script type="module" src="/${script}"></script></html>`
}

const VITE = `import vue from '@vitejs/plugin-vue'
const template = { compilerOptions: { isCustomElement: (tag) => tag === 'vintem-pix' } }
export default { plugins: [vue({ template })] }
`
const TYPESCRIPT = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    lib: ['es2023', 'dom'],
    types: [],
  },
}

test('the components of the guide show a charge, and learn that it is paid', {
  skip: missing,
}, async (t) => {
  const sandbox = await startSandbox()
  const call = callerOf(sandbox)
  // Below the frameworks, so that they are found.
  const project = mkdtempSync(join(programs, 'project-'))
  after(() => rmSync(project, { recursive: true }))
  const installed = join(project, 'node_modules/@vintem/element')
  mkdirSync(installed, { recursive: true })
  await build(installed)

  for (const [name, { package: found, files }] of Object.entries(PAGES)) {
    await t.test(`${name} ${versionOf(found)}`, async (t) => {
      const folder = join(project, name)
      mkdirSync(folder)
      const all = {
        ...files,
        'vite.config.js': VITE,
        'package.json': '{"private":true,"type":"module"}',
        'tsconfig.json': JSON.stringify(TYPESCRIPT),
      }
      for (const [path, text] of Object.entries(all)) writeFileSync(join(folder, path), text)
      const node = (args: string[]) =>
        run(process.execPath, args, { cwd: folder, env: inherited }).catch((fault) =>
          assert.fail(`${fault.stdout}${fault.stderr}`),
        )
      if (name === 'React') await node([program('typescript/bin/tsc')])
      await node([program('vite/bin/vite.js'), 'build'])
      const port = String(await freePort())
      const args = ['preview', '--host', '127.0.0.1', '--port', port, '--strictPort']
      const shop = await runIn(folder, [program('vite/bin/vite.js'), ...args], {}, 'Local')

      const customer = { name: 'Maria da Silva', taxId: '12345678909' }
      const charge = { amount: 1990, customer, devMode: true }
      const { id, brCode } = await call<{ id: string; brCode: string }>(
        'POST',
        '/charge/pix',
        charge,
      )
      const { src } = await call<{ src: string }>('GET', `/charge/${id}/element`)
      const mayAsk = new URL(src).origin
      const query = new URLSearchParams({ src })
      const page = await open(`http://127.0.0.1:${port}/?${query}`, { mayAsk })
      await page.getByRole('button', { name: 'Copiar código Pix' }).waitFor()
      assert.equal(await page.locator('vintem-pix textarea').inputValue(), brCode)
      await call('POST', `/charge/${id}/simulate-payment`)
      await page.getByRole('heading', { name: 'Obrigado!' }).waitFor()
      await shop.stop()
      t.diagnostic(
        `ECOSYSTEM ${name} ${versionOf(found)}: the guide's component shows a charge in Chromium, and learns that it is paid`,
      )
    })
  }
})
