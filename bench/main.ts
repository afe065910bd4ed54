const BENCHES = 'compare create read qr settle deliver mail bill live listen cpu grow places'.split(
  ' ',
)
const [name = ''] = process.argv.slice(2)
if (!BENCHES.includes(name)) {
  console.error(`Usage: npm run bench ${BENCHES.join(' | ')}`)
  process.exit(2)
}
const { run } = await import(`./${name}.ts`)
await run()
process.exit(0)
