import { ROUTES } from '../../src/http/routes/all.ts'

/** The method of the client for each operation: resource, then method. */
export const METHODS: Record<string, [resource: string, method: string]> = Object.fromEntries(
  ROUTES.map(({ operationId, client }) => [operationId, client]),
)
