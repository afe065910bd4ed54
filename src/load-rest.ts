/**
 * Loads what no payment needs, once the service answers. It is not left to the first request that
 * needs it, because an upgrade may have replaced the files by then.
 */
export async function loadRest(): Promise<void> {
  await import('./mcp/agents.ts')
  await import('./web/guides/markdown.ts')
  await import('@simplewebauthn/server')
}
