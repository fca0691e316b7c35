from __future__ import annotations

import pytest

from app.core.refusal import REFUSALS, gap_sentence, is_refusal, refusal_text

REFUSED_EN = """The documents do not contain this information.
The provided context does not mention the CEO's salary.
I cannot find the answer in the given passages.
I could not find enough evidence to answer this question.
I'm sorry, but I don't have enough information to answer that.
Sorry, I can't answer this from the sources provided.
There is no information about the warranty in the documents.
There is not enough evidence in the passages to say who won.
The question cannot be answered from the provided text.
No relevant information was found.
No information on this topic is available in the sources.
Insufficient evidence.
Not enough information to answer.
The passages don't say when the clock was built.
Based on the provided documents, I am unable to determine the price.
Unfortunately, the text does not specify a date.
The context provided does not include any details on pricing.
I do not know.
I don't know the answer to this question.
The answer is not found in the documents.
The requested information is not available in the provided passages.
This is not mentioned in the text.
None of the passages mention the founder.
None of the documents provide an answer.
Neither passage states the height of the tower.
The sources are silent on this point.
It is not possible to answer this question based on the given context.
It is impossible to determine the answer from these excerpts.
The given information is insufficient to answer the question.
The evidence does not allow an answer.
The document makes no mention of a refund policy.
Nothing in the passages addresses the cost.
There is no mention of the author's age.
I was unable to locate any details about that event.
Your question is not covered by the available documents.
I have no information about that.
The passages provided do not answer the question.
The text doesn't provide the name of the ship.
No answer can be given based on these sources.
As an AI model, I cannot answer without further information.
The corpus lacks information on this subject.
The passages fail to mention who designed it.""".splitlines()

REFUSED_ZH = """现有文档中没有这个问题的答案。
文档中没有提到该公司的年收入。
根据提供的资料，无法回答这个问题。
抱歉，我无法从给定的内容中找到答案。
很抱歉，资料中没有相关信息。
没有找到相关信息。
未找到足够的证据。
我不知道。
我不清楚这个问题的答案。
提供的文本未提及具体日期。
文中并未说明原因。
上下文中没有足够的信息来回答该问题。
证据不足，无法作答。
信息不足，无法判断。
目前的材料不足以回答这个问题。
根据现有资料无法确定。
文档未涉及这方面的内容。
资料里没有关于保修期的说明。
无法根据所给段落得出答案。
所提供的段落没有包含该信息。
检索到的内容与问题无关。
没有任何段落提到创始人是谁。
这个问题在文档中没有答案。
文档没有记载这件事。
未能在资料中检索到相关内容。
给定的上下文没有提供价格。
对不起，我不能回答这个问题。
暂无相关资料。
暂时没有查到相关内容。
缺乏相关依据，无法回答。
缺少必要的信息，不能给出答案。
原文没有给出具体数字。
无法从文档中得知他的年龄。
从资料中看不出是谁设计的。
文档对此没有说明。
材料中查不到该条款。
找不到答案。
这一点文中没有交代。
资料没有明确指出负责人。
根据上述信息，无法得出结论。
問題的答案在文件中找不到。
資料中沒有提到這件事。""".splitlines()

ANSWERED_EN = """The value is not found in table 3, but the total is 5.
The passages do not give the year, but the clock was built by Ada Lane.
The policy does not cover water damage.
The warranty does not include batteries.
Employees cannot carry over more than five days.
The server does not provide a graphical interface.
There is no fee for students.
There is no evidence of life on the moon, according to the report of 1969.
The museum is not open on Mondays.
The contract must not be signed before May.
He could not find his keys and went home.
The device does not support Bluetooth.
The committee found insufficient evidence of fraud and closed the case.
No information is stored on the device.
Sorry seems to be the hardest word was released in 1976.
The study did not find a difference between the two groups.
No data are sent to third parties.
The error message reads "file not found".
If the file is not found, the program exits with code 2.
A missing key returns 404 Not Found.
The clock was built in 1703.
It weighs 41 kg.
The text was written in 1851 by Melville.
The document contains 24 pages.
The evidence supports the second theory.
Information about fees is on page 3.
The context menu opens with a right click.
Do not open the valve while the pump runs.
The committee does not know the donors' names.
Water was not available in the village until 1950.
The law does not mention minors, and the court applied it to all persons.
Passengers without a ticket are not covered by the insurance.
The command prints nothing and returns 0.
The author says she does not remember the year.
The treaty was never signed.
Refunds are not provided after 30 days.
The sources of the river are in the Alps.
The source code is not available under a free licence.
No one answered the call.
The documents must be kept for ten years.
Only details of the first phase are given in the annex; the budget is 4 million euros.
Unable to walk, she used a wheelchair.""".splitlines()

ANSWERED_ZH = """表3中没有找到该值，但总数是5。
文中没有给出年份，但钟是李安建造的。
保单不包含水渍损失。
学生无需缴费。
博物馆周一不开放。
该设备不支持蓝牙。
员工不能结转超过五天的年假。
五月之前不得签署合同。
委员会认为证据确凿。
钟建于1703年。
它重41公斤。
文件共24页。
资料保存期为十年。
信息存储在本地。
未经批准不得外出。
如果找不到文件，程序返回2。
系统提示“文件不存在”。
该公司没有上市。
他没有回答记者的问题。
这座塔没有电梯。
病假没有天数限制。
无线网络覆盖全楼。
不含税价格为30元。
无烟区在二楼。
合同没有约定违约金的，按法律规定执行。
没有身份证的旅客不能登机。
段落之间空一行。
内容由编辑部审核。
来源地是云南。
不超过三天的病假不需要证明。
他不知道父亲的名字。
水在零度以下不流动。
试用期内无年假。
资料费为20元。
信息部负责网络。
文档必须加密保存。
公司未设立海外分部。
该药不适合儿童。
证据由法院保管。
逾期未提交材料的，视为放弃。
没有驾照不能开车。
答案见第3页，总数为5。""".splitlines()


@pytest.mark.parametrize(
    ("refused", "answered"), [(REFUSED_EN, ANSWERED_EN), (REFUSED_ZH, ANSWERED_ZH)], ids=["en", "zh"]
)
def test_refusals_in_a_models_own_words(refused: list[str], answered: list[str]) -> None:
    missed = [text for text in refused if not is_refusal(text)]
    wrong = [text for text in answered if is_refusal(text)]
    caught = len(refused) - len(missed)
    assert caught / len(refused) >= 0.95, missed
    assert caught / (caught + len(wrong)) >= 0.95, wrong


@pytest.mark.parametrize("text", [*REFUSALS.values(), "", " \n"])
def test_the_fixed_texts_and_nothing(text: str) -> None:
    assert is_refusal(text)


def test_a_long_text_says_more_than_no() -> None:
    assert not is_refusal("The clock was built in 1703 by Ada Lane. " * 8 + "I could not find the price.")


def test_the_language_and_the_words_can_be_set() -> None:
    assert refusal_text("zh") == REFUSALS["zh"]
    assert refusal_text("en") == refusal_text("fr") == REFUSALS["en"]
    assert refusal_text("fr", {"fr": "Rien trouvé."}) == "Rien trouvé."
    assert refusal_text("fr", {"en": "Nothing."}) == "Nothing."


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["the price", "the price, but not the tax", "价格，但不含税？", "x " * 150])
def test_a_gap_names_its_part_and_is_a_refusal(part: str, language: str) -> None:
    assert part in gap_sentence(part, language)
    assert is_refusal(gap_sentence(part, language))
