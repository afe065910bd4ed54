const FORM = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** A moment as people in Brazil read it, by the clock of Brasília: dd/mm/aaaa HH:mm. */
export const formatMoment = (at: Date): string => FORM.format(at).replace(',', '')
