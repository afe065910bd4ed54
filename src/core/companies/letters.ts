import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail } from '../../pix/masks.ts'
import { asIs, type Block, type Fact, type LetterCompany } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'

const pt = {
  changed: {
    subject: (company: string) => `O e-mail de ${company} foi alterado`,
    title: 'O e-mail da empresa foi alterado',
    intro: (company: string) =>
      `O e-mail cadastrado de ${company} foi alterado. Os avisos passam a chegar ao novo endereço.`,
    email: 'Novo e-mail',
    at: 'Alterado em (horário de Brasília)',
    notYou:
      'Não foi você? Troque já as chaves de API da empresa, pois alguém pode estar usando uma delas, e desfaça a alteração com PUT /company. Se precisar de ajuda, fale com quem opera este serviço.',
  },
  confirmed: {
    subject: (company: string) => `Este é o novo e-mail de ${company}`,
    title: 'E-mail cadastrado',
    intro: (company: string) =>
      `A partir de agora, os avisos de ${company} chegam a este endereço.`,
    unknown:
      'Não conhece esta empresa? Alguém informou seu endereço por engano. Você pode ignorar esta mensagem.',
  },
  codesLater: (until: string) =>
    `Por segurança, os códigos para confirmar saques continuam sendo enviados ao e-mail anterior até ${until} (horário de Brasília). Depois disso, vão para o novo.`,
  codesNow: 'Os códigos para confirmar saques também vão para o novo endereço.',
}

type Texts = typeof pt

const en: Texts = {
  changed: {
    subject: (company) => `The email address of ${company} was changed`,
    title: 'The company’s email address was changed',
    intro: (company) =>
      `The email address of ${company} was changed. Notices now go to the new address.`,
    email: 'New email address',
    at: 'Changed at (Brasília time)',
    notYou:
      'Wasn’t you? Replace the company’s API keys now, since someone may be using one of them, and undo the change with PUT /company. If you need help, contact whoever operates this service.',
  },
  confirmed: {
    subject: (company) => `This is the new email address of ${company}`,
    title: 'Email address registered',
    intro: (company) => `From now on, notices of ${company} arrive at this address.`,
    unknown:
      'You do not know this company? Someone gave your address by mistake. You can ignore this message.',
  },
  codesLater: (until) =>
    `For security, codes to confirm withdrawals still go to the former address until ${until} (Brasília time), and to the new one after that.`,
  codesNow: 'Codes to confirm withdrawals go to the new address too.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** If codes still go to the former address, until when. */
type ChangedCompany = LetterCompany & { codeEmailUntil: Date | null }

/** Where one-time codes go. The former address is not named, because a stranger may read this. */
function codesBlock({ language, codeEmailUntil }: ChangedCompany): Block {
  const { codesLater, codesNow } = TEXTS[language]
  return paragraph(codeEmailUntil === null ? codesNow : codesLater(formatMoment(codeEmailUntil)))
}

/** To the former address, so that its owner can stop a change that they did not ask for. */
export function composeEmailChanged(company: ChangedCompany, to: string, at: Date): Letter {
  const { changed: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [texts.email, asIs(maskEmail(company.email))],
    [texts.at, formatMoment(at)],
  ]
  return compose(company, {
    to,
    subject: texts.subject(company.name),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      codesBlock(company),
      paragraph(texts.notYou),
    ],
  })
}

/** To the new address, so that a wrong address is noticed. */
export function composeEmailConfirmed(company: ChangedCompany): Letter {
  const { confirmed: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(company.name),
    title: texts.title,
    blocks: [paragraph(texts.intro(company.name)), codesBlock(company), paragraph(texts.unknown)],
  })
}
