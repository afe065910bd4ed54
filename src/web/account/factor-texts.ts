import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Verificação em duas etapas',
  intro: 'Falta só uma etapa para entrar.',
  code: 'Código do aplicativo autenticador',
  codeHint: '6 dígitos. Cada código vale por cerca de 30 segundos e só pode ser usado uma vez.',
  continue: 'Entrar',
  lost: 'Não tenho acesso a isso agora',
  recovery: 'Código de recuperação',
  recoveryHint: 'Um dos 10 códigos que você guardou. Cada um só pode ser usado uma vez.',
  useRecovery: 'Usar código de recuperação',
  wrongCode: 'O código não confere ou já foi usado. Espere o próximo e tente de novo.',
  wrongRecovery: 'O código de recuperação não confere ou já foi usado.',
  wait: (minutes: number) =>
    `Muitas tentativas. Espere ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'} e tente de novo.`,
  again: 'Voltar ao início',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Two-step verification',
  intro: 'One more step to sign in.',
  code: 'Code from your authenticator app',
  codeHint: '6 digits. Each code is valid for about 30 seconds and works only once.',
  continue: 'Sign in',
  lost: 'I cannot use this now',
  recovery: 'Recovery code',
  recoveryHint: 'One of the 10 codes that you saved. Each works only once.',
  useRecovery: 'Use a recovery code',
  wrongCode: 'The code is wrong or was used already. Wait for the next one and try again.',
  wrongRecovery: 'The recovery code is wrong or was used already.',
  wait: (minutes) =>
    `Too many attempts. Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} and try again.`,
  again: 'Start over',
}

export const FACTOR: Record<Language, Texts> = { pt, en }
