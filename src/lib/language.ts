/** The languages of mails and pages. */
export type Language = 'pt' | 'en'
