-- Overflows inside of an expression, where another operand is null, and where the result of the operation behind is in range
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT content, query, agree_on(content, 'a int, b int, c int, big int8', $$format 'csv'$$, query)
FROM (VALUES
	('2147483647,1,,1', 'SELECT sum((a + b) * c) FROM odd'),
	('2147483647,1,,1', 'SELECT avg(c * (a + b)), count(*) FROM odd'),
	('2147483647,1,,1', 'SELECT max((a + c) * b), min((a - b) * c) FROM odd'),
	('2147483647,1,,1', 'SELECT b, sum((a + b) * c) FROM odd GROUP BY b'),
	('2147483647,1,,1', 'SELECT sum((a + b) * c) FILTER (WHERE b > 1) FROM odd'),
	('2147483647,1,,1', 'SELECT sum((a + b) * c) FROM odd WHERE c = 1'),
	('-2147483648,0,-1,1', 'SELECT sum((a + b) * c) FROM odd'),
	('-2147483648,0,1,1', 'SELECT sum((a + b) * c) FROM odd'),
	('1,0,1,9223372036854775807', 'SELECT max((big + b) + c) FROM odd'),
	('1,0,1,9223372036854775807', 'SELECT max((big - b) - c) FROM odd'),
	('1,0,1,-9223372036854775808', 'SELECT min((big + b) - c) FROM odd')) t (content, query);
RESET client_min_messages;
