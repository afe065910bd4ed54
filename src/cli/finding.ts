/** The result of a check. */
export type State = 'ok' | 'warning' | 'failed'
export type Check = { name: string; state: State; detail: string }
export type Finding = [state: State, detail: string]
