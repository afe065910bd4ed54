/** What a check of the installation finds. */
export type State = 'ok' | 'warning' | 'failed'
export type Check = { name: string; state: State; detail: string }
export type Finding = [state: State, detail: string]
