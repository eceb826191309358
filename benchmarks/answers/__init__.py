"""The public benchmark of answers: agents with a memory on LoCoMo, LongMemEval, LifeBench, DMR, needles and lives.

It runs on Inspect AI (`pip install 'filemem[bench]'`); README.md says how. `data` reads what is asked about, `needles` makes
some, `systems` are the memories under test, `tasks` puts both together, `marks` and `scorers` judge, `costs` and `tables`
read the logs, `scripted` has models that need no key.
"""
