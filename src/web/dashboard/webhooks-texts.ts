import type { Language } from '../../lib/language.ts'

type Texts = {
  title: string
  list: string
  create: string
  none: string
  name: string
  nameHint: string
  nameWrong: string
  url: string
  urlHint: { local: string; public: string }
  urlWrong: {
    form: string
    credentials: string
    https: string
    private: string
    name: string
  }
  events: string
  eventsHint: string
  eventsWrong: string
  state: string
  active: string
  inactive: string
  gone: string
  failed: string
  paused: string
  failing: string
  healthTexts: {
    active: string
    inactive: string
    gone: string
    failed: string
    paused: string
    failing: string
  }
  pausedUntil: string
  failingSince: string
  lastDelivery: string
  noDelivery: string
  created: string
  back: string
  edit: string
  save: string
  test: string
  activate: string
  deactivate: string
  rotate: string
  remove: string
  replay: string
  latest: string
  allDeliveries: string
  secretTitle: string
  secretOnce: string
  secretText: string
  copySecret: string
  toWebhook: string
  rotateTitle(name: string): string
  rotateText: string
  rotatedText: string
  removeTitle(name: string): string
  removeText: string
  keep: string
  done: Record<
    'changed' | 'tested' | 'activated' | 'deactivated' | 'deleted' | 'replayed' | 'shown',
    string
  >
  isInactive: string
}

const pt: Texts = {
  title: 'Webhooks',
  list: 'Webhooks da empresa, do mais recente ao mais antigo',
  create: 'Criar webhook',
  none: 'Crie um webhook para que o seu servidor receba um aviso a cada evento.',
  name: 'Nome',
  nameHint: 'Para reconhecer o webhook depois.',
  nameWrong: 'Informe um nome de 1 a 255 caracteres.',
  url: 'Endereço (URL)',
  urlHint: {
    local: 'O endereço do seu servidor. Nesta máquina, http e endereços locais são aceitos.',
    public: 'O endereço público do seu servidor, com https.',
  },
  urlWrong: {
    form: 'Informe um endereço completo, que comece com https:// ou http://.',
    credentials: 'Retire o usuário e a senha do endereço. Confira a assinatura em vez disso.',
    https: 'O endereço precisa começar com https://.',
    private:
      'Este endereço é de uma rede privada ou reservada. Use um que a internet possa acessar.',
    name: 'Use um nome público, como api.sualoja.com.br.',
  },
  events: 'Eventos que ele recebe',
  eventsHint: 'Marque só os que o seu sistema usa.',
  eventsWrong: 'Marque ao menos um evento.',
  state: 'Situação',
  active: 'Ativo',
  inactive: 'Inativo',
  gone: 'Desativado: 410',
  failed: 'Desativado por falhas',
  paused: 'Em pausa',
  failing: 'Falhando',
  healthTexts: {
    active: 'Recebe os eventos assim que acontecem.',
    inactive: 'Não recebe nada enquanto estiver inativo.',
    gone: 'O servidor respondeu 410 (não existe mais), por isso paramos de enviar. Ative quando estiver pronto.',
    failed:
      'O servidor só falhou por cinco dias, por isso paramos de enviar. Ative quando estiver pronto.',
    paused: 'Falhou muitas vezes seguidas. Esperamos um pouco antes de tentar de novo.',
    failing: 'As últimas entregas falharam. Se só falhar por cinco dias, será desativado.',
  },
  pausedUntil: 'Em pausa até',
  failingSince: 'Falhando desde',
  lastDelivery: 'Última entrega',
  noDelivery: 'Nenhuma ainda',
  created: 'Criado em',
  back: 'Voltar aos webhooks',
  edit: 'Editar',
  save: 'Salvar',
  test: 'Enviar teste',
  activate: 'Ativar',
  deactivate: 'Desativar',
  rotate: 'Trocar segredo',
  remove: 'Excluir',
  replay: 'Reenviar em lote',
  latest: 'Últimas entregas',
  allDeliveries: 'Ver todas as entregas',
  secretTitle: 'Segredo do webhook',
  secretOnce: 'Copie o segredo agora: ele não será mostrado de novo.',
  secretText: 'Com ele o seu servidor confere se um aviso veio mesmo de nós.',
  copySecret: 'o segredo',
  toWebhook: 'Já copiei o segredo',
  rotateTitle: (name) => `Trocar o segredo de ${name}`,
  rotateText:
    'Criamos outro segredo. Por 24 horas assinamos cada entrega também com o atual, para que você possa trocar sem perder nada.',
  rotatedText: 'O segredo anterior ainda vale por 24 horas.',
  removeTitle: (name) => `Excluir o webhook ${name}?`,
  removeText:
    'Ele deixa de receber eventos, e o registro das suas entregas é apagado. Não é possível desfazer.',
  keep: 'Manter o webhook',
  done: {
    changed: 'O webhook foi alterado.',
    tested: 'Enviamos um evento de teste. O resultado aparece nas entregas abaixo.',
    activated: 'O webhook está ativo e recebe o que acontecer a partir de agora.',
    deactivated: 'O webhook está inativo e não recebe mais nada.',
    deleted: 'O webhook foi excluído.',
    replayed: 'As entregas serão enviadas de novo em instantes.',
    shown:
      'Este formulário já tinha sido enviado, e o segredo só é mostrado uma vez. Se você não o copiou, troque-o.',
  },
  isInactive: 'O webhook está inativo. Ative-o primeiro.',
}

const en: Texts = {
  title: 'Webhooks',
  list: 'Webhooks of the company, newest first',
  create: 'Create a webhook',
  none: 'Create a webhook so that your server is notified of each event.',
  name: 'Name',
  nameHint: 'To recognize the webhook later.',
  nameWrong: 'Enter a name of 1 to 255 characters.',
  url: 'Address (URL)',
  urlHint: {
    local: 'The address of your server. On this machine http and local addresses are accepted.',
    public: 'The public address of your server, with https.',
  },
  urlWrong: {
    form: 'Enter a whole address that starts with https:// or http://.',
    credentials: 'Remove user and password from the address. Verify the signature instead.',
    https: 'The address must start with https://.',
    private: 'This address is private or reserved. Use one that the internet can reach.',
    name: 'Use a public name such as api.yourstore.com.',
  },
  events: 'Events that it gets',
  eventsHint: 'Check only those that your system uses.',
  eventsWrong: 'Check at least one event.',
  state: 'Status',
  active: 'Active',
  inactive: 'Inactive',
  gone: 'Deactivated: 410',
  failed: 'Deactivated after failures',
  paused: 'Paused',
  failing: 'Failing',
  healthTexts: {
    active: 'It gets events as soon as they happen.',
    inactive: 'It gets nothing while it is inactive.',
    gone: 'The server answered 410 (gone), so we stopped sending. Activate it when it is ready.',
    failed:
      'The server only failed for five days, so we stopped sending. Activate it when it is ready.',
    paused: 'It failed many times in a row. We wait a little before the next try.',
    failing: 'The last deliveries failed. If it only fails for five days, it is deactivated.',
  },
  pausedUntil: 'Paused until',
  failingSince: 'Failing since',
  lastDelivery: 'Last delivery',
  noDelivery: 'None yet',
  created: 'Created',
  back: 'Back to the webhooks',
  edit: 'Edit',
  save: 'Save',
  test: 'Send a test',
  activate: 'Activate',
  deactivate: 'Deactivate',
  rotate: 'Rotate secret',
  remove: 'Delete',
  replay: 'Replay many',
  latest: 'Latest deliveries',
  allDeliveries: 'See all deliveries',
  secretTitle: 'Secret of the webhook',
  secretOnce: 'Copy the secret now: it is not shown again.',
  secretText: 'With it your server verifies that a notification really comes from us.',
  copySecret: 'the secret',
  toWebhook: 'I have copied the secret',
  rotateTitle: (name) => `Rotate the secret of ${name}`,
  rotateText:
    'We create another secret. For 24 hours each delivery is signed with the present one too, so that you can change without losing anything.',
  rotatedText: 'The former secret is valid for another 24 hours.',
  removeTitle: (name) => `Delete the webhook ${name}?`,
  removeText:
    'It gets no more events, and the log of its deliveries is erased. This cannot be undone.',
  keep: 'Keep the webhook',
  done: {
    changed: 'The webhook is changed.',
    tested: 'A test event was sent. The result is among the deliveries below.',
    activated: 'The webhook is active and gets what happens from now on.',
    deactivated: 'The webhook is inactive and gets nothing any more.',
    deleted: 'The webhook is deleted.',
    replayed: 'The deliveries will be sent again in a moment.',
    shown:
      'This form had been sent already, and a secret is shown only once. If you did not copy it, rotate it.',
  },
  isInactive: 'The webhook is inactive. Activate it first.',
}

export const WEBHOOKS: Record<Language, Texts> = { pt, en }
