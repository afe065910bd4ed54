/**
 * What descriptions say about a field, after its path, in English and in Portuguese. What is in
 * braces is taken over, translated too if it is here.
 */
export const RULES: Record<string, string> = {
  // Rules of the schemas.
  'is required': 'é obrigatório',
  'is not valid': 'não é válido',
  'must not be blank': 'não pode ficar em branco',
  'must not be empty': 'não pode ficar vazio',
  'must not repeat an item': 'não pode repetir um item',
  'must be {type}': 'deve ser {type}',
  'must be {type} or {other}': 'deve ser {type} ou {other}',
  'a whole number': 'um número inteiro',
  'a number': 'um número',
  text: 'um texto',
  null: 'nulo',
  'true or false': 'true ou false',
  'an object': 'um objeto',
  'an array': 'uma lista',
  'must be at least {limit}': 'deve ser no mínimo {limit}',
  'must be at most {limit}': 'deve ser no máximo {limit}',
  'must have at least {limit} characters': 'deve ter no mínimo {limit} caracteres',
  'must have at most {limit} characters': 'deve ter no máximo {limit} caracteres',
  'must have at least {limit} item(s)': 'deve ter no mínimo {limit} item(ns)',
  'must have at most {limit} items': 'deve ter no máximo {limit} itens',
  'must be one of {values}': 'deve ser um destes valores: {values}',
  'must be a {format}': 'deve ter o formato {format}',
  'must be a UUID': 'deve ser um UUID',
  'must be a CPF (11 digits) or a CNPJ (14 characters, the last two digits)':
    'deve ser um CPF (11 dígitos) ou um CNPJ (14 caracteres, os dois últimos dígitos)',
  'has wrong check digits': 'tem dígitos verificadores incorretos',
  'must be an e-mail address such as maria@example.com':
    'deve ser um e-mail como maria@example.com',
  'must be an e-mail address': 'deve ser um e-mail',
  'must have 10 or 11 digits: area code and number': 'deve ter 10 ou 11 dígitos: DDD e número',
  'must have 8 digits (CEP)': 'deve ter 8 dígitos (CEP)',
  'must be an address that starts with https:// or http://':
    'deve ser um endereço que comece com https:// ou http://',
  'must be a date and time such as 2026-08-16T12:00:00Z':
    'deve ser uma data e hora como 2026-08-16T12:00:00Z',
  'must be a day of the calendar such as 2026-08-16':
    'deve ser um dia do calendário como 2026-08-16',
  'must be a day such as 2026-08-16, or a date and time such as 2026-08-16T12:00:00Z':
    'deve ser um dia como 2026-08-16 ou uma data e hora como 2026-08-16T12:00:00Z',
  'must be a color such as #0f766e': 'deve ser uma cor como #0f766e',
  'must be the keyId of a request': 'deve ser o keyId de uma requisição',
  'must be E, {ispb} (the simulated bank), 12 digits and 11 letters or digits, 32 characters in all':
    'deve ser E, {ispb} (o banco simulado), 12 dígitos e 11 letras ou dígitos, com 32 caracteres no total',
  'must be small letters without accents, digits and single hyphens, as in pao-de-queijo':
    'deve ter letras minúsculas sem acento, dígitos e hifens simples, como em pao-de-queijo',
  'must be a CPF, a CNPJ, a phone such as +5511988887777, an e-mail or a random key':
    'deve ser um CPF, um CNPJ, um celular como +5511988887777, um e-mail ou uma chave aleatória',
  'must be the six digits from the e-mail, as text':
    'deve ser os seis dígitos do e-mail, como texto',
  'must have 1 to 200 printable ASCII characters': 'deve ter de 1 a 200 caracteres ASCII visíveis',

  // Names and text.
  'is not a field of this operation, which takes {names}':
    'não é um campo desta operação, que aceita {names}',
  'is not a field of this operation (did you mean {name}?), which takes {names}':
    'não é um campo desta operação (você quis dizer {name}?), que aceita {names}',
  'is not a query parameter of this operation, which takes {names}':
    'não é um parâmetro desta operação, que aceita {names}',
  'is not a query parameter of this operation (did you mean {name}?), which takes {names}':
    'não é um parâmetro desta operação (você quis dizer {name}?), que aceita {names}',
  none: 'nenhum',
  'is another name of {name}: send only one of them':
    'é outro nome de {name}: envie só um dos dois',
  'this name is not allowed': 'este nome não é permitido',
  'must be an object': 'deve ser um objeto',
  'must not contain a NUL character': 'não pode conter o caractere NUL',
  'must be valid Unicode text': 'deve ser um texto Unicode válido',
  'must not nest deeper than {levels} levels': 'não pode ter mais de {levels} níveis',
  'must not have more than {count} values': 'não pode ter mais de {count} valores',
  'send one such header': 'envie este cabeçalho uma só vez',
  'must have 1 to 255 printable ASCII characters': 'deve ter de 1 a 255 caracteres ASCII visíveis',
  'must have 1 to {limit} characters': 'deve ter de 1 a {limit} caracteres',
  '1 to {limit} characters': 'de 1 a {limit} caracteres',
  '{name} is no placeholder; use {meant}': '{name} não é um campo de texto; use {meant}',
  '{name} is no placeholder; use one of {names}, or leave the braces out':
    '{name} não é um campo de texto; use um de {names}, ou tire as chaves',
  '{name} cannot be in a subject; put it into the text':
    '{name} não pode estar no assunto; coloque-o no texto',

  // Lists.
  'must be an id of this list, as the Link header gives it':
    'deve ser um id desta lista, como no cabeçalho Link',
  'must be the id of an event of this company': 'deve ser o id de um evento desta empresa',
  'must be the id of an event of this company. This one is newer than {time}, the moment to which the service was restored. Continue {where}: no event since then is left out. What you have from events after that moment may be missing here: read it again':
    'deve ser o id de um evento desta empresa. Este é mais novo que {time}, o momento para o qual o serviço foi restaurado. Continue {where}: nenhum evento desde então fica de fora. O que você tem de eventos depois desse momento pode faltar aqui: leia de novo',
  'without `after`': 'sem `after`',
  'with after={id}': 'com after={id}',
  'must be the id of a charge': 'deve ser o id de uma cobrança',
  'must not be sent with order=newest': 'não pode ser enviado com order=newest',
  'only with the oldest events first': 'só com os eventos mais antigos primeiro',
  'must be before to': 'deve ser antes de to',
  'must be 2000-01-01 or later': 'deve ser 2000-01-01 ou depois',
  'must be before 2999-01-01': 'deve ser antes de 2999-01-01',
  'a summary covers at most {days} days; send a later {from} or an earlier {to}':
    'um resumo cobre no máximo {days} dias; envie um {from} mais tarde ou um {to} mais cedo',
  'there are more than {count} groups; send a later from, an earlier to, or another group':
    'há mais de {count} grupos; envie um from mais tarde, um to mais cedo ou outro group',

  // Charges and payers.
  'must be 1 to {limit} cents': 'deve ser de 1 a {limit} centavos',
  'leave it out with dueDate; daysAfterDue says for how long it can be paid':
    'não envie junto com dueDate; daysAfterDue diz por quanto tempo se pode pagar',
  'needs a dueDate': 'exige dueDate',
  'send it or {other}, not both': 'envie este campo ou {other}, não os dois',
  'send it, or the customerId of one on record':
    'envie este campo ou o customerId de um cliente cadastrado',
  'send it, or items to add up': 'envie este campo ou os itens a somar',
  'send it, or items to calculate it from': 'envie este campo ou os itens a somar',
  'send it, or items, or openAmount': 'envie este campo, items ou openAmount',
  'a link to a subscription has none; its product says when it is paid':
    'um link de assinatura não tem; o produto diz quando se paga',
  'the company has no such customer.': 'a empresa não tem este cliente.',
  'the company has no such product.': 'a empresa não tem este produto.',
  'the company has no such recipient.': 'a empresa não tem este recebedor.',
  'the product must be ACTIVE': 'o produto deve estar ACTIVE',
  'the product is not active': 'o produto não está ativo',
  'its price must be at least {limit} cents, it is {price}':
    'o preço deve ser no mínimo {limit} centavos, e é {price}',
  'their total must be from {least} to {most} cents, it is {total}':
    'o total deve ser de {least} a {most} centavos, e é {total}',
  'the total must be from {least} to {most} cents': 'o total deve ser de {least} a {most} centavos',
  'required when type is RECURRING': 'obrigatório quando type é RECURRING',
  'the payer of the charge has no address': 'o pagador da cobrança não tem e-mail',
  'name and taxId of who subscribes': 'nome e taxId de quem assina',
  'the charge is a link to a subscription, which only its payer can start. Name another charge, or leave chargeId out to keep the money.':
    'a cobrança é um link de assinatura, que só o pagador pode iniciar. Indique outra cobrança, ou não envie chargeId para ficar com o valor.',
  'the charge is {status}, and only one that is OPEN or EXPIRED can be settled. Name another charge, or leave chargeId out to keep the money.':
    'a cobrança está {status}, e só uma OPEN ou EXPIRED pode ser quitada. Indique outra cobrança, ou não envie chargeId para ficar com o valor.',
  'the payer’s bank has the order to collect the charge. When its last attempt has failed, the charge is EXPIRED and can be settled.':
    'o banco do pagador já tem a ordem de cobrar. Quando a última tentativa falhar, a cobrança fica EXPIRED e pode ser quitada.',
  'the charge is a test (devMode), and the payment is real money. Name a charge without devMode.':
    'a cobrança é de teste (devMode), e o pagamento é dinheiro real. Indique uma cobrança sem devMode.',
  'the charge is real, and the payment is a test. Name a charge with devMode.':
    'a cobrança é real, e o pagamento é um teste. Indique uma cobrança com devMode.',
  'only with chargeId; without it the whole payment is kept':
    'só com chargeId; sem ele o pagamento inteiro fica com a empresa',
  '{amount} cents exceed the {left} that are left of this month’s limit.':
    '{amount} centavos passam dos {left} que restam do limite deste mês.',

  // Due dates, plans and splits.
  'must not be before today, {day}': 'não pode ser antes de hoje, {day}',
  'must not be after dueDate, {day}': 'não pode ser depois de dueDate, {day}',
  'each must end on another day': 'cada um deve terminar em outro dia',
  'all must have the same type, FIXED or PERCENT': 'todos devem ter o mesmo type, FIXED ou PERCENT',
  'must be at most {limit}, which is 100,00 %': 'deve ser no máximo {limit}, que é 100,00 %',
  'must be less than the amount of the charge': 'deve ser menor que o valor da cobrança',
  'must leave something of the amount to pay': 'deve deixar algum valor a pagar',
  'if it is paid today, it must leave something of the amount to pay':
    'se for paga hoje, deve deixar algum valor a pagar',
  'on the last day, {day}, more than {limit} cents would be to pay':
    'no último dia, {day}, o total passaria de {limit} centavos',
  'send it, or amounts or dueDates, which are counted':
    'envie este campo, ou amounts ou dueDates, que são contados',
  'is {count}, and there are {others} amounts or dueDates':
    'é {count}, e há {others} amounts ou dueDates',
  'there are {count}, and {others} amounts': 'há {count}, e {others} amounts',
  'send it, or all dueDates': 'envie este campo ou todas as dueDates',
  'send it or dueDates, not both': 'envie este campo ou dueDates, não os dois',
  'each of {count} equal parts would be less than {limit} cents':
    'cada uma de {count} partes iguais teria menos de {limit} centavos',
  'must be after the one before, {day}': 'deve ser depois da anterior, {day}',
  'add up to {sum} cents, and total is {total}': 'somam {sum} centavos, e total é {total}',
  'a recipient of the charge is not ACTIVE; create another charge':
    'um recebedor da cobrança não está ACTIVE; crie outra cobrança',
  'its percentages are {sum} together, more than {limit}':
    'as porcentagens somam {sum}, mais que {limit}',
  'its parts are {sum} cents together, more than the {limit} cents of the charge':
    'as partes somam {sum} centavos, mais que os {limit} centavos da cobrança',
  'send it, or percent': 'envie este campo ou percent',
  'is named before; send one part for each recipient':
    'já foi indicado; envie uma parte para cada recebedor',
  'the recipient must be ACTIVE': 'o recebedor deve estar ACTIVE',

  '{other} has the day {day} already; each day has one':
    '{other} já tem o dia {day}; cada dia tem um',

  // Links.
  'another link of the company has this address, or had it':
    'outro link da empresa tem ou já teve este endereço',
  'must be a day from 2000 to 2999': 'deve ser um dia de 2000 a 2999',
  'must not be less than {other}': 'não pode ser menor que {other}',
  'must be 1 where the payer types the amount': 'deve ser 1 quando o pagador digita o valor',
  'minQuantity of them cost {total} cents, and a charge has at least {limit}':
    'minQuantity deles custa {total} centavos, e uma cobrança tem no mínimo {limit}',
  'so many cost {total} cents, and a charge has at most {limit}':
    'tantos custam {total} centavos, e uma cobrança tem no máximo {limit}',
  'a subscription has a link of its own; name products that are sold once':
    'uma assinatura tem um link próprio; indique produtos de venda única',
  'where it is sent must be a whole address': 'o endereço de entrega deve estar completo',

  // The company, its webhooks and its money.
  'must not lead to a private or reserved address':
    'não pode levar a um endereço privado ou reservado',
  'must not carry a user or a password': 'não pode ter usuário nem senha',
  'must start with https://': 'deve começar com https://',
  'the webhook is INACTIVE; make it ACTIVE first, by PUT /webhook/{id}':
    'o webhook está INACTIVE; ative-o antes, com PUT /webhook/{id}',
  'can be changed {hour} times an hour and {day} times a day.':
    'pode ser alterado {hour} vezes por hora e {day} vezes por dia.',
  'keys of recipients can be changed {hour} times an hour and {day} times a day.':
    'as chaves de recebedores podem ser alteradas {hour} vezes por hora e {day} vezes por dia.',
  'must be another than the key that withdrawals go to':
    'deve ser diferente da chave que recebe os saques',
  'is a CPF or a CNPJ, and another one than taxId': 'é um CPF ou CNPJ diferente de taxId',
  'is empty': 'está vazio',
  'must be a PDF, a PNG or a JPEG': 'deve ser um PDF, um PNG ou um JPEG',
  'must not be larger than 1 MiB': 'não pode ter mais de 1 MiB',
  'must be a file in base64': 'deve ser um arquivo em base64',
  'the available balance is {value} cents below zero, because money that was withdrawn is disputed or was returned by the bank. Nothing can be withdrawn until the next money that you receive has made up for it.':
    'o saldo disponível está {value} centavos abaixo de zero, porque um valor sacado foi contestado ou devolvido pelo banco. Nada pode ser sacado até que os próximos recebimentos cubram a diferença.',
  '{value} cents are more than the {available} cents in the {account} balance.':
    '{value} centavos são mais que os {available} centavos do saldo {account}.',
  '{value} cents are more than the {available} cents in the {account} balance and the {others} cents of its recipients.':
    '{value} centavos são mais que os {available} centavos do saldo {account} e os {others} centavos dos recebedores.',
  available: 'disponível',
  pending: 'a liberar',
  'the recipient has no money that could be paid to it.':
    'o recebedor não tem valor a ser repassado.',
  '{value} cents are more than the {available} cents that the recipient has.':
    '{value} centavos são mais que os {available} centavos do recebedor.',
  '{value} cents are more than the {left} that can still go back.':
    '{value} centavos são mais que os {left} que ainda podem ser devolvidos.',

  'a {record} has at most {count} notes; delete one first':
    'um registro ({record}) tem no máximo {count} anotações; exclua uma antes',
  'a company has at least one owner; make somebody else an owner first':
    'uma empresa tem pelo menos um proprietário; torne outra pessoa proprietária antes',
  'belongs to the company already; change the role instead':
    'já pertence à empresa; altere a função em vez disso',
  'at most {count} invitations wait; withdraw some of them':
    'no máximo {count} convites esperam; cancele alguns',

  // The sandbox.
  'send it, or the now to move to': 'envie este campo ou o now de destino',
  'must be later than {time}, for time goes forward only':
    'deve ser depois de {time}, porque o tempo só avança',
  'must not be more than 5 years after {time}': 'não pode passar de 5 anos depois de {time}',
  'must not lead more than 100 years ahead of the real time':
    'não pode passar de 100 anos à frente do tempo real',
  'it names an earlier payment of another code or amount. Leave it out, or send a new one.':
    'indica um pagamento anterior, de outro código ou valor. Não envie este campo ou envie outro.',
  'the simulated bank has issued no such code.': 'o banco simulado não emitiu este código.',
  'is not a valid Pix code ({reason})': 'não é um código Pix válido ({reason})',
  'is a code to agree to, and asks for no payment: {path}':
    'é um código de autorização, e não pede pagamento: {path}',
  'is a code to pay, and asks for no agreement': 'é um código de pagamento, e não pede autorização',
}
