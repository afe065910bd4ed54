/**
 * Words that common passwords are made of, without accents: of passwords themselves, names, places,
 * sports, music, animals, food, feelings, work and money, in Portuguese and in English.
 */
export const COMMON_WORDS = `
senha senhas senhaforte senhasegura minhasenha novasenha outrasenha senhanova senhadificil
trocar trocarsenha mudar mudarsenha mudeisso mudei acesso acessar entrar entrada login logon
usuario user username admin administrador administrator root sistema system master mestre chave
segredo secreto secreta segura seguro seguranca forte fraca dificil facil teste testes testando
padrao default temporaria temporario provisoria inicial primeira segunda ultima nova novo antiga
minha meu meus minhas nossa nosso sua seu password passwords passphrase passwort pass passcode
word secret secrets secure security safe strong weak hard easy temporary temp initial first last
new old changeme change changeit letmein welcome hello hi guest test tester testing demo example
sample qwerty azerty abc abcd abcde abcdef xyz asdf asd qwe zxc zxcv zxcvbn qaz wsx edc key keys
access open enter please porfavor obrigado obrigada bemvindo bemvinda benvindo oi ola alo tchau
adeus sim nao claro ok super mega ultra hiper power max maximo pro plus extra total geral basico
simples moderno computador computer notebook laptop desktop mouse teclado monitor internet web
site online offline email mail google gmail hotmail outlook yahoo facebook instagram whatsapp
twitter youtube tiktok netflix amazon microsoft windows linux ubuntu android apple iphone
samsung motorola xiaomi nokia sony playstation xbox nintendo game games gamer jogo jogos jogador
minecraft roblox fortnite freefire valorant counter strike league legends pokemon pikachu mario
luigi zelda sonic naruto sasuke goku vegeta dragon dragonball onepiece luffy batman superman
spiderman homemaranha ironman hulk thor vingadores avengers marvel starwars jedi yoda vader
skywalker matrix harry potter hogwarts gandalf frodo hobbit ninja samurai pirata pirate principe
princesa prince princess rei rainha king queen pix vintem dinheiro grana money cash banco bank
conta contas account pagamento pagamentos payment payments pagar pay cartao card credito debito
credit debit saldo balance real reais dolar dollar euro centavo moeda coin bitcoin crypto rico
rica rich milionario milionaria milhao million ouro gold prata silver diamante diamond tesouro
treasure loja lojas store shop shopping venda vendas sales compra compras cliente clientes
customer customers empresa empresas company negocio negocios business financeiro financeira
finance financas fiscal contador contabil contabilidade vendedor gerente gerencia manager chefe
boss diretor diretoria director presidente socio dono dona owner patrao suporte support
atendimento comercial marketing estoque caixa boleto nota fatura invoice recibo trabalho
trabalhar work worker escritorio office projeto project equipe sucesso success vitoria victory
vencedor vencer winner win campeao campea champion lider leader melhor best top numero padaria
mercado mercearia restaurante lanchonete pizzaria farmacia academia escola colegio faculdade
universidade university school college professor professora teacher aluno aluna student
engenheiro engenharia medico medica doctor advogado advogada enfermeira dentista policia police
bombeiro soldado soldier exercito marinha motorista piloto pilot programador developer dev
design designer brasil brazil brasileiro brasileira saopaulo sampa riodejaneiro rio brasilia
salvador bahia fortaleza ceara recife pernambuco natal belem para manaus amazonas curitiba
parana florianopolis floripa santacatarina portoalegre riograndedosul gaucho gaucha
belohorizonte minas minasgerais mineiro mineira espiritosanto goiania goias cuiaba matogrosso
campogrande maceio alagoas aracaju sergipe joaopessoa paraiba teresina piaui saoluis maranhao
palmas tocantins portovelho rondonia riobranco acre macapa amapa boavista roraima campinas
santos guarulhos osasco sorocaba ribeirao londrina maringa joinville blumenau niteroi uberlandia
caruaru paulista carioca baiano baiana nordeste nordestino sul norte leste oeste portugal lisboa
porto argentina buenosaires chile uruguai paraguai mexico espanha spain madrid barcelona franca
france paris italia italy roma milan inglaterra england london londres alemanha germany berlin
europa europe america americano americana african africa angola luanda mocambique maputo china
japao japan tokyo india canada australia newyork california texas florida miami boston chicago
dallas denver houston seattle vegas hawaii flamengo fluminense vasco botafogo corinthians
palmeiras saopaulofc santosfc gremio internacional cruzeiro atletico galo mengao mengo timao
verdao tricolor colorado fogao vascao flu fla sport bahiaec nautico santacruz cearasc
fortalezaec athletico coritiba goiasec vilanova ponte guarani juventude chapecoense avai
figueirense remo paysandu realmadrid benfica sporting juventus inter liverpool arsenal chelsea
manchester united city bayern psg futebol football soccer basquete basketball baseball volei
tenis tennis golf hockey boxe boxing natacao surf skate skatista corrida bola gol gols torcida
campeonato copa mundial worldcup hexa penta tetra pele neymar messi ronaldo ronaldinho kaka
romario rivaldo zico socrates garrincha marta senna ayrton formula hamilton maria jose joao
antonio francisco carlos paulo pedro lucas luiz luis marcos gabriel rafael daniel marcelo bruno
eduardo felipe rodrigo manoel manuel mateus matheus andre fernando fabio leonardo gustavo
guilherme leandro tiago thiago anderson ricardo marcio jorge sebastiao alexandre roberto edson
diego vitor victor sergio claudio vinicius vini caio igor hugo arthur artur heitor davi david
miguel samuel bernardo benjamin enzo nicolas joaquim lorenzo theo murilo otavio henrique renato
renan alan allan alex alessandro adriano alberto alvaro augusto cesar cristiano cristian danilo
denis douglas elias emerson erick eric everton evandro flavio geraldo gilberto gilson giovani
helio ivan jair jean jefferson jonas jonathan juliano julio junior kleber kevin leo lucio marcel
mauricio mauro milton moises nelson nilton oscar osvaldo otto patrick raul reginaldo reinaldo
robson rogerio ronald ruben rui saulo silvio tadeu tales tomas valdir valter vander vicente
wagner walter wellington wesley william willian wilson yuri zeca ana francisca antonia adriana
juliana marcia fernanda patricia aline sandra camila amanda bruna jessica leticia julia luciana
vanessa mariana gabriela vera larissa claudia beatriz rita luana sonia renata eliane josefa
simone natalia cristiane carla debora rosangela jaqueline rosa daniela aparecida marlene
terezinha raimunda andreia fabiana lucia raquel angela rafaela joana luzia elaine daniele regina
daiane alessandra isabel isabela isabella sophia sofia alice laura manuela valentina helena
luiza luisa heloisa lorena livia giovanna giovana yasmin clara cecilia elisa sarah sara lara
melissa nicole bianca barbara carolina caroline catarina cristina diana eduarda emanuelle erika
ester evelyn fabiola flavia gisele gloria irene iris ivone janaina joice karen karina katia
kelly lais lilian liliane lidia lourdes madalena maite marcela marina michele milena mirela
monica monique nair neusa nina olivia pamela paula paola penha pietra poliana priscila rebeca
roberta rosana rosane rute samara sabrina selma sheila silvana silvia solange stella suelen
susana suzana tais tamara tania tatiana tatiane teresa thais vania veronica viviane wanda zelia
silva oliveira souza sousa rodrigues ferreira alves pereira lima gomes costa ribeiro martins
carvalho almeida lopes soares fernandes vieira barbosa rocha dias nascimento andrade moreira
nunes marques machado mendes freitas cardoso ramos goncalves santana teixeira araujo pinto
cavalcante cavalcanti monteiro moura correia correa campos batista borges castro duarte farias
fonseca garcia guimaraes leite macedo magalhaes medeiros melo mello miranda morais moraes
nogueira pacheco peixoto pires queiroz reis sampaio siqueira tavares viana xavier james john
robert michael mike richard joseph joe thomas charles charlie christopher chris matthew anthony
mark donald steven paul andrew joshua josh kenneth brian george edward timothy jason jeffrey
ryan jacob gary nicholas nick stephen larry justin scott brandon ben sam gregory frank alexander
raymond jack dennis jerry tyler aaron henry adam nathan peter zachary kyle harold jeremy ethan
carl keith roger gerald christian terry sean austin noah jesse bryan billy jordan albert dylan
bruce willie mary jennifer linda elizabeth susan lisa nancy betty margaret ashley kimberly emily
donna michelle carol deborah stephanie rebecca sharon cynthia dorothy amy kathleen shirley emma
brenda anna samantha katherine christine helen debra rachel carolyn janet catherine heather
diane julie joyce victoria ruth virginia lauren christina joan judith andrea hannah megan cheryl
jacqueline martha madison janice ann kathryn abigail frances judy grace amber denise danielle
marilyn beverly charlotte natalie theresa brittany doris kayla alexis lori smith johnson
williams brown jones miller davis taylor moore jackson martin lee perez thompson white harris
clark lewis robinson walker young allen wright hill green baker carter mitchell roberts turner
phillips campbell parker evans edwards collins stewart morris rogers reed cook morgan bell
murphy bailey cooper amor amores amo amar amada amado teamo euteamo meuamor minhavida vida vidas
paixao apaixonado apaixonada coracao saudade saudades beijo beijos abraco carinho ternura
querido querida namorado namorada noivo noiva marido esposa casal casamento mae mamae pai papai
vo vovo avo filho filha filhos filhas familia irmao irma irmaos irmas tio tia primo prima
sobrinho sobrinha neto neta bebe nene crianca amigo amiga amigos amigas amizade companheiro
parceiro parceira sogra sogro cunhado love loves lover loved loveyou iloveyou iloveu mylove
forever always never together baby babe honey sweet sweetie sweetheart heart hearts kiss kisses
hug darling angel angels mom mommy mother dad daddy father son daughter brother sister family
friend friends friendship husband wife boyfriend girlfriend girl girls boy boys woman women man
men people happy happiness feliz felicidade alegria alegre joy smile sorriso sorrir risada rindo
sonho sonhos sonhar dream dreams dreamer esperanca hope faith fe deus deusefiel deuseamor god
godisgood jesus jesuscristo cristo christ senhor lord espirito santo santa saint sao
nossasenhora igreja church biblia bible salmo salmos amem amen gracas bencao abencoado abencoada
blessed bless paz peace anjo anjos ceu heaven inferno hell diabo devil demonio demon satan luz
light sombra shadow dark darkness sol sun lua moon estrela estrelas star stars mundo world terra
earth planeta universo universe galaxia galaxy espaco space mar ocean oceano praia beach river
lago lake montanha mountain floresta forest arvore tree flor flores flower flowers rose
margarida girassol sunflower jardim garden chuva rain neve snow vento wind fogo fire agua water
gelo ice tempestade storm thunder trovao raio lightning arcoiris rainbow verao summer inverno
winter outono autumn primavera spring janeiro fevereiro marco abril maio junho julho agosto
setembro outubro novembro dezembro january february march april may june july august september
october november december terca quarta quinta sexta sabado domingo monday tuesday wednesday
thursday friday saturday sunday dia noite day night manha tarde morning evening hoje ontem
amanha today yesterday tomorrow ano anos year years hora horas minuto segundo tempo time agora
now christmas anonovo newyear carnaval pascoa easter halloween ferias holiday feriado
aniversario birthday festa party cachorro cachorra cao dog dogs doggy puppy gato gata gatinho
gatinha gatos cat cats kitty kitten leao lion tigre tiger onca urso bear lobo wolf raposa fox
aguia eagle falcao falcon cavalo horse egua vaca cow boi touro bull porco pig galinha chicken
pato duck peixe fish tubarao shark baleia whale golfinho dolphin tartaruga turtle coelho rabbit
bunny rato macaco monkey gorila elefante elephant girafa zebra cobra snake jacare sapo frog
borboleta butterfly abelha bee formiga aranha spider passaro bird papagaio parrot arara coruja
owl pinguim penguin dinossauro dinosaur dragao unicornio unicorn fenix phoenix rex bob mel luna
toto pipoca belinha bidu chocolate cafe coffee milk cha suco cerveja beer vinho wine vodka
cachaca whisky refri coca cocacola pepsi guarana pizza hamburguer burger batata arroz feijao
churrasco picanha carne frango queijo cheese pao bolo cake torta pie brigadeiro acai sorvete
icecream doce candy sugar acucar banana laranja orange maca uva grape morango strawberry
melancia abacaxi manga limao lemon coco pimenta pepper tomate cebola alho amendoim castanha
cookie cookies biscoito musica music rock metal samba pagode sertanejo forro funk rap hiphop
reggae jazz blues pop violao guitarra guitar piano bateria drums baixo bass banda beatles
nirvana metallica ironmaiden acdc linkinpark coldplay eminem madonna beyonce rihanna shakira
anitta ivete sangalo legiao urbana seixas legiaourbana chicobuarque caetano gil cazuza titas
skank rihana filme filmes movie movies cinema novela serie series livro livros book books foto
fotos photo carro carros car cars moto motos motor ferrari porsche lamborghini bmw audi mercedes
toyota honda hyundai fiat ford chevrolet volkswagen fusca uno corsa palio celta civic corolla
hilux mustang camaro corvette harley yamaha suzuki kawasaki caminhao truck onibus aviao barco
bike bicicleta vermelho vermelha azul verde amarelo amarela preto preta branco branca roxo roxa
cinza marrom dourado red blue yellow black purple pink gray grey golden um dois tres quatro
cinco seis sete oito nove dez onze doze treze cem mil one two three four five six seven eight
nine ten hundred thousand zero grande pequeno pequena bonito bonita lindo gostoso gostosa bom
boa legal massa show maravilha maravilhoso maravilhosa perfeito perfeita incrivel fantastico
fantastica especial unico unica eterno eterna infinito infinita livre liberdade big small little
pretty beautiful good great nice cool awesome amazing perfect wonderful fantastic special unique
eternal infinite infinity free freedom crazy louco louca doido doida maluco maluca bobo boba
idiota idiot stupid burro feio feia gordo gorda magro chato chata triste sad raiva odio hate
morte death morrer die killer matar kill guerra war batalha battle luta fight fighter guerreiro
guerreira warrior heroi hero vilao villain monstro monster fantasma ghost vampiro vampire zumbi
zombie bruxa witch magico magic magia mago wizard mistico mystic misterio mystery destino
destiny sorte lucky luck azar karma casa home house lar apartamento quarto cozinha porta janela
mesa cadeira cama sofa rua street avenida cidade bairro vila fazenda farm sitio campo pais
country patria bandeira ordem progresso ordemeprogresso verdeamarelo politica governo lula
bolsonaro igualdade justica the and for you are not with this that have from your mine ours
yours all any some who what when where why how yes can will just only very much more most less
here there into over under de da do das dos em no na nos nas uma uns umas com por sem ser ter eu
tu ele ela voce voces eles elas que quem qual como onde quando porque mais menos muito muita
tudo todo toda todos todas nada ninguem alguem sempre nunca aqui ali la este esta esse essa isso
isto aquele aquela e o a os as
`.trim()
