/** How often a process is asked, and to how many questions in a row it may be silent. */
const ASK_MS = 10_000
const MAX_UNANSWERED = 6

export type Watch = {
  /** The process has sent something. */
  answered(): void
  end(): void
}

/**
 * Calls back once if a process has been silent for a minute. It counts questions and not the time:
 * between two of them the whole machine may sleep for hours, and then nobody could answer.
 */
export function watchAnswers(ask: () => void, onSilence: () => void, every_ms = ASK_MS): Watch {
  let unanswered = 0
  const timer = setInterval(() => {
    if (unanswered < MAX_UNANSWERED) {
      unanswered += 1
      ask()
    } else {
      clearInterval(timer)
      onSilence()
    }
  }, every_ms)
  return {
    answered() {
      unanswered = 0
    },
    end: () => clearInterval(timer),
  }
}
