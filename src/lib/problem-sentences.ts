/**
 * Descriptions that say more than the summary of their code, in English and in Portuguese. What is
 * in braces is taken over, translated too if it is here.
 */
export const SENTENCES: Record<string, string> = {
  // Requests.
  'No operation answers {method} on this path. See /docs.':
    'Nenhuma operação responde a {method} neste caminho. Veja /docs.',
  'The path is not a valid URL path.': 'O caminho não é um caminho de URL válido.',
  'Send the API key as Authorization: Bearer KEY.':
    'Envie a chave de API como Authorization: Bearer CHAVE.',
  'This operation needs a key with the scope {scope}.':
    'Esta operação exige uma chave com a permissão {scope}.',
  'The operator of this service has suspended the company. Its data can be read, and nothing can be changed. Ask the operator.':
    'Quem opera este serviço suspendeu a empresa. Os dados podem ser lidos, e nada pode ser alterado. Fale com quem opera o serviço.',
  'X-Api-Version must be one of {versions}, or be left out.':
    'X-Api-Version deve ser uma destas versões: {versions}. O cabeçalho também pode ser omitido.',
  'Not valid HTTP.': 'Não é HTTP válido.',
  'The body is not valid UTF-8.': 'O corpo não é UTF-8 válido.',
  'The body is not valid JSON (at {place}).': 'O corpo não é um JSON válido ({place}).',
  'position {number}': 'posição {number}',
  'The body does not have the length that Content-Length says.':
    'O corpo não tem o tamanho que Content-Length informa.',
  'The request ended before its body did.': 'A requisição terminou antes do corpo.',
  'The body is larger than {size} KiB. Send it in parts.':
    'O corpo tem mais de {size} KiB. Envie-o em partes.',
  'Send the body as Content-Type: application/json.':
    'Envie o corpo com Content-Type: application/json.',
  'A fault of ours. Quote the request id {id}.':
    'Uma falha nossa. Informe o id da requisição {id}.',
  'Too many requests at once. Wait for some of them before you send more.':
    'Requisições demais ao mesmo tempo. Espere algumas terminarem antes de enviar outras.',
  'The server has more requests than it can take. Retry with the same Idempotency-Key.':
    'O servidor tem mais requisições do que pode atender. Repita com a mesma Idempotency-Key.',
  'Too many long pages are asked for. Ask for one at a time.':
    'Páginas longas demais ao mesmo tempo. Peça uma de cada vez.',
  'Too many requests wait for events. Ask without wait.':
    'Requisições demais esperam eventos. Peça sem wait.',
  'The company is changing its place. Try again.':
    'A empresa está mudando de lugar. Tente de novo.',
  'The company was moved meanwhile. Run the command again.':
    'A empresa mudou de lugar nesse meio-tempo. Execute o comando de novo.',
  'The secret is being replaced. Try again when that is over.':
    'O segredo está sendo trocado. Tente de novo quando isso terminar.',
  'Another request of the operator is not finished yet.':
    'Outra requisição de quem opera o serviço ainda não terminou.',
  'The company has no such member.': 'A empresa não tem este membro.',
  'Too many people sign in right now.': 'Pessoas demais estão entrando neste momento.',
  'Too many attempts to sign in. Wait and try again.':
    'Tentativas demais de entrar. Espere e tente de novo.',
  'A company sends at most {hour} invitations an hour and {day} a day.':
    'Uma empresa envia no máximo {hour} convites por hora e {day} por dia.',

  // Charges, payments and refunds.
  'The charge is {status} and can no longer change.':
    'A cobrança está {status} e não pode mais mudar.',
  'This charge has no code that a payer could pay.':
    'Esta cobrança não tem um código que se possa pagar.',
  'The bank is receiving the order of the charge. Try again in a moment.':
    'O banco está recebendo a ordem da cobrança. Tente de novo em instantes.',
  'The bank answered too late. Try again.': 'O banco respondeu tarde demais. Tente de novo.',
  '{text} Wait for the time in Retry-After.': '{text} Espere o tempo de Retry-After.',
  'A mail about a charge can be sent once a minute, and {day} times a day.':
    'Um e-mail sobre uma cobrança pode ser enviado uma vez por minuto e {day} vezes por dia.',
  '{count} charges were canceled, and one could not be: {reason} Send the request again to go on with what is left.':
    '{count} cobranças foram canceladas, e uma não pôde ser: {reason} Envie a requisição de novo para continuar com as que faltam.',
  'The payment has settled {id}. It settles no other.':
    'O pagamento quitou {id}. Ele não quita outra cobrança.',
  'The payer disputes the payment: refund it, or wait for the end of the dispute.':
    'O pagador contesta o pagamento: devolva-o ou espere o fim da disputa.',
  'The payment is {status} and waits for no decision.':
    'O pagamento está {status} e não espera decisão.',
  'The company has received no payment with this id.':
    'A empresa não recebeu pagamento com este id.',
  'The charge is {status}: only a paid charge can be refunded.':
    'A cobrança está {status}: só uma cobrança paga pode ser devolvida.',
  'The charge is already refunded in full.': 'A cobrança já foi devolvida por inteiro.',
  'The payment is older than the {days} days in which it can go back.':
    'O pagamento passou dos {days} dias em que pode ser devolvido.',

  // Disputes.
  'The dispute is {status}: nothing can be done about it.':
    'A disputa está {status}: não há o que fazer.',
  'The dispute was defended already. The bank decides now.':
    'A defesa da disputa já foi enviada. Agora o banco decide.',
  'The deadline was {time}: the bank takes no defense any more.':
    'O prazo terminou em {time}: o banco não aceita mais a defesa.',
  'The bank has returned the money. There is nothing to decide.':
    'O banco já devolveu o valor. Não há o que decidir.',

  // Subscriptions.
  'The subscription is {status} and can no longer change.':
    'A assinatura está {status} e não pode mais mudar.',
  'There is no subscription link with this address.':
    'Não há link de assinatura com este endereço.',
  'The link is {status}: nobody can subscribe through it.':
    'O link está {status}: ninguém pode assinar por ele.',

  // Webhooks.
  'The company has no delivery with this id.': 'A empresa não tem entrega com este id.',
  'A company may have at most {count} webhooks. Delete one, or let one receive more events.':
    'Uma empresa pode ter no máximo {count} webhooks. Exclua um ou faça um receber mais eventos.',
  'To show a record, a key needs the scope {scope}.':
    'Para mostrar um registro, a chave precisa da permissão {scope}.',
  'The company has no recent record of this operation.':
    'A empresa não tem registro recente desta operação.',

  // Withdrawals.
  'A withdrawal is being paid out. Wait for its end.':
    'Um saque está sendo pago. Espere o fim dele.',
  'A withdrawal is waiting for its one-time code. Confirm or cancel it first.':
    'Um saque aguarda o código de uso único. Confirme ou cancele-o antes.',
  'A withdrawal is waiting for the approval of a second person. Cancel it or wait.':
    'Um saque aguarda a aprovação de uma segunda pessoa. Cancele-o ou espere.',
  'Too many wrong codes were tried within an hour.':
    'Códigos errados demais foram tentados em uma hora.',
  'A company is sent at most {hour} one-time codes an hour and {day} a day.':
    'Uma empresa recebe no máximo {hour} códigos de uso único por hora e {day} por dia.',
  'The withdrawal is {status} and no longer waits for a code.':
    'O saque está {status} e não aguarda mais um código.',
  'All {tries} tries are used. Cancel the withdrawal and start another.':
    'Todas as {tries} tentativas foram usadas. Cancele o saque e inicie outro.',
  'The one-time code is wrong. {rest}': 'O código de uso único está errado. {rest}',
  'It was the last try: the withdrawal is canceled.':
    'Era a última tentativa: o saque foi cancelado.',
  '{tries} try is left.': 'Resta {tries} tentativa.',
  '{tries} tries are left.': 'Restam {tries} tentativas.',
  'The code was right. The withdrawal waits for a second person’s approval.':
    'O código está certo. O saque aguarda a aprovação de uma segunda pessoa.',
  'The one-time code has expired. Start another withdrawal.':
    'O código de uso único expirou. Inicie outro saque.',
  'The withdrawal is {status} and waits for no approval.':
    'O saque está {status} e não aguarda aprovação.',
  'Whoever has started a withdrawal cannot approve it. Ask another person.':
    'Quem iniciou um saque não pode aprová-lo. Peça a outra pessoa.',
  'Neither whoever has changed the bank connection nor a new member can approve a withdrawal that is held for it. Ask another person.':
    'Nem quem alterou a conexão com o banco nem quem acabou de entrar na equipe pode aprovar um saque retido por isso. Peça a outra pessoa.',
  'The code was sent {times} times, which is the most.':
    'O código foi enviado {times} vezes, que é o máximo.',
  'The Pix key of the recipient was changed. Payouts to it are possible from {time} on.':
    'A chave Pix do recebedor foi alterada. Os repasses para ele são possíveis a partir de {time}.',

  // Banks.
  'No bank is connected to this company.': 'Nenhum banco está conectado a esta empresa.',
  'No bank is connected to this live company. The operator connects one with vintem bank connect; charges with devMode=true can be tried without it.':
    'Nenhum banco está conectado a esta empresa real. Quem opera o serviço conecta um com vintem bank connect; cobranças com devMode=true podem ser testadas sem ele.',
  'The bank refuses the order: {reason}.': 'O banco recusa a ordem: {reason}.',
  'The bank did not accept the order: {reason}.': 'O banco não aceitou a ordem: {reason}.',
  'The bank returns nothing: {reason}.': 'O banco não devolve nada: {reason}.',
  'No bank calls back here.': 'Nenhum banco envia avisos para cá.',
  'The bank’s client certificate is missing.': 'Falta o certificado de cliente do banco.',
  'The body cannot be unpacked.': 'O corpo não pode ser descompactado.',

  // The simulated bank, and what it says of an order.
  'A company has at most {count} sandboxes until they are removed, some minutes after DELETE /sandbox or their end.':
    'Uma empresa tem no máximo {count} empresas de testes, até que sejam apagadas, alguns minutos depois de DELETE /sandbox ou do fim delas.',
  'A sandbox that POST /sandbox has made makes no others. Use the key of the company that has made it.':
    'Uma empresa de testes criada por POST /sandbox não cria outras. Use a chave da empresa que a criou.',
  'Too many sandboxes are made. Use one for several tests, or wait.':
    'Empresas de testes demais em pouco tempo. Use a mesma em vários testes ou espere.',
  'Only a sandbox that POST /sandbox has made can be removed.':
    'Só uma empresa de testes criada por POST /sandbox pode ser excluída.',
  'The simulated bank refuses it: {reason}.': 'O banco simulado recusa: {reason}.',
  'The simulated bank has issued no such code.': 'O banco simulado não emitiu este código.',
  'The simulated bank has too many orders. Try again in a moment.':
    'O banco simulado tem ordens demais. Tente de novo em instantes.',
  'The clock is still on its way to {time}.': 'O relógio ainda está a caminho de {time}.',
  'Too many clocks are being moved. Try again in a moment.':
    'Relógios demais estão sendo adiantados. Tente de novo em instantes.',
  'the simulated bank refuses this amount': 'o banco simulado recusa este valor',
  'no answer in time': 'sem resposta a tempo',
  'the bank knows no such agreement': 'o banco não conhece esta autorização',
  'it knows no such agreement': 'o banco não conhece esta autorização',
  'the agreement is {status} and cannot be {decision}':
    'a autorização está {status} e não pode ser {decision}',
  'the bank has no such dispute': 'o banco não tem esta disputa',
  'the dispute is decided already': 'a disputa já foi decidida',
  'the deadline is over': 'o prazo terminou',
  'the bank has received no such payment': 'o banco não recebeu este pagamento',
  'the bank has no such payment': 'o banco não tem este pagamento',
  'the bank knows no such payment': 'o banco não conhece este pagamento',
  'the payment is disputed already': 'o pagamento já está em disputa',
  'all of the payment is returned already': 'o pagamento já foi devolvido por inteiro',
  'only {left} cents of the payment are left': 'restam só {left} centavos do pagamento',
  'more than was received': 'mais do que foi recebido',
  'the bank has decided already: {decision}': 'o banco já decidiu: {decision}',
}
