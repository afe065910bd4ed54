import { userInfo } from 'node:os'
import type { Author } from '../core/activity/rules.ts'

/** Whoever runs this command, for the activity log. */
export function commandAuthor(): Author {
  return { kind: 'command-line', id: null, name: userName(), address: null }
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
