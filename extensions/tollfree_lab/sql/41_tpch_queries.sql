/*
 * The queries of TPC-H with the validation parameters of its specification,
 * in words of our own.  A subquery that PostgreSQL would run once for each
 * row of its outer query, without an index, is a grouped join here: the
 * answer is the same, and it can be had.  Q18 is planned for all of its rows: of
 * 100 the planner expects that nested loops find them early, for it takes them
 * to be many.
 */
INSERT INTO file_queries (query, kind, reads, published, in_quick, statement) VALUES
('COUNT', 'query', '{lineitem}', false, false,
 'SELECT count(*) FROM lineitem'),

('ANALYZE', 'analyze', '{lineitem}', false, false, 'ANALYZE lineitem'),

('Q1', 'query', '{lineitem}', true, true, $$
SELECT l_returnflag, l_linestatus,
	   sum(l_quantity), sum(l_extendedprice),
	   sum(l_extendedprice * (1 - l_discount)),
	   sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
	   avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
FROM lineitem
WHERE l_shipdate <= date '1998-12-01' - interval '90 days'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus
$$),

('Q2', 'query', '{part,partsupp,supplier,nation,region}', false, false, $$
WITH offers AS (
	SELECT ps_partkey, ps_supplycost, s_acctbal, s_name, n_name, s_address,
		   s_phone, s_comment,
		   min(ps_supplycost) OVER (PARTITION BY ps_partkey) AS cheapest
	FROM partsupp
		JOIN supplier ON s_suppkey = ps_suppkey
		JOIN nation ON n_nationkey = s_nationkey
		JOIN region ON r_regionkey = n_regionkey
	WHERE r_name = 'EUROPE'
)
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone,
	   s_comment
FROM offers
	JOIN part ON p_partkey = ps_partkey
WHERE p_size = 15 AND p_type LIKE '%BRASS' AND ps_supplycost = cheapest
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100
$$),

('Q3', 'query', '{customer,orders,lineitem}', true, false, $$
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue,
	   o_orderdate, o_shippriority
FROM customer
	JOIN orders ON o_custkey = c_custkey
	JOIN lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING'
  AND o_orderdate < date '1995-03-15'
  AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate, l_orderkey
LIMIT 10
$$),

('Q4', 'query', '{orders,lineitem}', false, false, $$
SELECT o_orderpriority, count(*)
FROM orders
WHERE o_orderdate >= date '1993-07-01'
  AND o_orderdate < date '1993-07-01' + interval '3 months'
  AND EXISTS (SELECT FROM lineitem
			  WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority
$$),

('Q5', 'query', '{customer,orders,lineitem,supplier,nation,region}', true, false, $$
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer
	JOIN orders ON o_custkey = c_custkey
	JOIN lineitem ON l_orderkey = o_orderkey
	JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
	JOIN nation ON n_nationkey = s_nationkey
	JOIN region ON r_regionkey = n_regionkey
WHERE r_name = 'ASIA'
  AND o_orderdate >= date '1994-01-01'
  AND o_orderdate < date '1994-01-01' + interval '1 year'
GROUP BY n_name
ORDER BY revenue DESC
$$),

('Q6', 'query', '{lineitem}', true, true, $$
SELECT sum(l_extendedprice * l_discount)
FROM lineitem
WHERE l_shipdate >= date '1994-01-01'
  AND l_shipdate < date '1994-01-01' + interval '1 year'
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01
  AND l_quantity < 24
$$),

('Q7', 'query', '{supplier,lineitem,orders,customer,nation}', false, false, $$
SELECT s.n_name, c.n_name, extract(year FROM l_shipdate) AS shipped,
	   sum(l_extendedprice * (1 - l_discount))
FROM supplier
	JOIN lineitem ON l_suppkey = s_suppkey
	JOIN orders ON o_orderkey = l_orderkey
	JOIN customer ON c_custkey = o_custkey
	JOIN nation s ON s.n_nationkey = s_nationkey
	JOIN nation c ON c.n_nationkey = c_nationkey
WHERE (s.n_name = 'FRANCE' AND c.n_name = 'GERMANY'
	   OR s.n_name = 'GERMANY' AND c.n_name = 'FRANCE')
  AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'
GROUP BY s.n_name, c.n_name, shipped
ORDER BY s.n_name, c.n_name, shipped
$$),

('Q8', 'query', '{part,supplier,lineitem,orders,customer,nation,region}', false, false, $$
SELECT extract(year FROM o_orderdate) AS ordered,
	   sum(l_extendedprice * (1 - l_discount)) FILTER (WHERE s.n_name = 'BRAZIL')
	   / sum(l_extendedprice * (1 - l_discount)) AS share
FROM part
	JOIN lineitem ON l_partkey = p_partkey
	JOIN supplier ON s_suppkey = l_suppkey
	JOIN orders ON o_orderkey = l_orderkey
	JOIN customer ON c_custkey = o_custkey
	JOIN nation c ON c.n_nationkey = c_nationkey
	JOIN region ON r_regionkey = c.n_regionkey
	JOIN nation s ON s.n_nationkey = s_nationkey
WHERE r_name = 'AMERICA'
  AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31'
  AND p_type = 'ECONOMY ANODIZED STEEL'
GROUP BY ordered
ORDER BY ordered
$$),

('Q9', 'query', '{part,supplier,lineitem,partsupp,orders,nation}', false, false, $$
SELECT n_name, extract(year FROM o_orderdate) AS ordered,
	   sum(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity)
FROM part
	JOIN lineitem ON l_partkey = p_partkey
	JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
	JOIN supplier ON s_suppkey = l_suppkey
	JOIN orders ON o_orderkey = l_orderkey
	JOIN nation ON n_nationkey = s_nationkey
WHERE p_name LIKE '%green%'
GROUP BY n_name, ordered
ORDER BY n_name, ordered DESC
$$),

('Q10', 'query', '{customer,orders,lineitem,nation}', true, false, $$
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue,
	   c_acctbal, n_name, c_address, c_phone, c_comment
FROM customer
	JOIN orders ON o_custkey = c_custkey
	JOIN lineitem ON l_orderkey = o_orderkey
	JOIN nation ON n_nationkey = c_nationkey
WHERE o_orderdate >= date '1993-10-01'
  AND o_orderdate < date '1993-10-01' + interval '3 months'
  AND l_returnflag = 'R'
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC, c_custkey
LIMIT 20
$$),

('Q11', 'query', '{partsupp,supplier,nation}', false, false, $$
WITH stock AS (
	SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value
	FROM partsupp
		JOIN supplier ON s_suppkey = ps_suppkey
		JOIN nation ON n_nationkey = s_nationkey
	WHERE n_name = 'GERMANY'
	GROUP BY ps_partkey
)
SELECT ps_partkey, value
FROM stock
/* the specification divides 0.0001 by the scale factor */
WHERE value > (SELECT sum(value) FROM stock)
			  * 0.0001 / ((SELECT count(*) FROM supplier) / 10000.0)
ORDER BY value DESC
$$),

('Q12', 'query', '{orders,lineitem}', true, false, $$
SELECT l_shipmode,
	   count(*) FILTER (WHERE o_orderpriority IN ('1-URGENT', '2-HIGH')),
	   count(*) FILTER (WHERE o_orderpriority NOT IN ('1-URGENT', '2-HIGH'))
FROM orders
	JOIN lineitem ON l_orderkey = o_orderkey
WHERE l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= date '1994-01-01'
  AND l_receiptdate < date '1994-01-01' + interval '1 year'
GROUP BY l_shipmode
ORDER BY l_shipmode
$$),

('Q13', 'query', '{customer,orders}', false, false, $$
SELECT orders_made, count(*) AS customers
FROM (SELECT c_custkey, count(o_orderkey) AS orders_made
	  FROM customer
		  LEFT JOIN orders
			  ON o_custkey = c_custkey
				 AND o_comment NOT LIKE '%special%requests%'
	  GROUP BY c_custkey) AS by_customer
GROUP BY orders_made
ORDER BY customers DESC, orders_made DESC
$$),

('Q14', 'query', '{lineitem,part}', true, false, $$
SELECT 100.00
	   * sum(CASE WHEN p_type LIKE 'PROMO%'
				  THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
	   / sum(l_extendedprice * (1 - l_discount))
FROM lineitem
	JOIN part ON p_partkey = l_partkey
WHERE l_shipdate >= date '1995-09-01'
  AND l_shipdate < date '1995-09-01' + interval '1 month'
$$),

('Q15', 'query', '{lineitem,supplier}', false, false, $$
WITH revenue AS (
	SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) AS total
	FROM lineitem
	WHERE l_shipdate >= date '1996-01-01'
	  AND l_shipdate < date '1996-01-01' + interval '3 months'
	GROUP BY l_suppkey
)
SELECT s_suppkey, s_name, s_address, s_phone, total
FROM supplier
	JOIN revenue ON l_suppkey = s_suppkey
WHERE total = (SELECT max(total) FROM revenue)
ORDER BY s_suppkey
$$),

('Q16', 'query', '{partsupp,part,supplier}', false, false, $$
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers
FROM partsupp
	JOIN part ON p_partkey = ps_partkey
WHERE p_brand <> 'Brand#45'
  AND p_type NOT LIKE 'MEDIUM POLISHED%'
  AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier
						 WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size
ORDER BY suppliers DESC, p_brand, p_type, p_size
$$),

('Q17', 'query', '{lineitem,part,lineitem}', false, false, $$
WITH few AS (
	SELECT l_partkey, 0.2 * avg(l_quantity) AS quantity
	FROM lineitem
	GROUP BY l_partkey
)
SELECT sum(l_extendedprice) / 7.0
FROM lineitem
	JOIN part ON p_partkey = lineitem.l_partkey
	JOIN few ON few.l_partkey = p_partkey
WHERE p_brand = 'Brand#23'
  AND p_container = 'MED BOX'
  AND l_quantity < few.quantity
$$),

('Q18', 'query', '{customer,orders,lineitem,lineitem}', false, false, $$
WITH large AS MATERIALIZED (
	SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice,
		   sum(l_quantity)
	FROM customer
		JOIN orders ON o_custkey = c_custkey
		JOIN lineitem ON l_orderkey = o_orderkey
	WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem
						 GROUP BY l_orderkey
						 HAVING sum(l_quantity) > 300)
	GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
)
SELECT * FROM large
ORDER BY o_totalprice DESC, o_orderdate, o_orderkey
LIMIT 100
$$),

('Q19', 'query', '{lineitem,part}', true, false, $$
SELECT sum(l_extendedprice * (1 - l_discount))
FROM lineitem
	JOIN part ON p_partkey = l_partkey
WHERE l_shipmode IN ('AIR', 'AIR REG')
  AND l_shipinstruct = 'DELIVER IN PERSON'
  AND (p_brand = 'Brand#12'
	   AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
	   AND l_quantity BETWEEN 1 AND 1 + 10 AND p_size BETWEEN 1 AND 5
	   OR p_brand = 'Brand#23'
	   AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
	   AND l_quantity BETWEEN 10 AND 10 + 10 AND p_size BETWEEN 1 AND 10
	   OR p_brand = 'Brand#34'
	   AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
	   AND l_quantity BETWEEN 20 AND 20 + 10 AND p_size BETWEEN 1 AND 15)
$$),

('Q20', 'query', '{supplier,nation,partsupp,part,lineitem}', false, false, $$
WITH shipped AS (
	SELECT l_partkey, l_suppkey, 0.5 * sum(l_quantity) AS half
	FROM lineitem
	WHERE l_shipdate >= date '1994-01-01'
	  AND l_shipdate < date '1994-01-01' + interval '1 year'
	GROUP BY l_partkey, l_suppkey
)
SELECT s_name, s_address
FROM supplier
	JOIN nation ON n_nationkey = s_nationkey
WHERE n_name = 'CANADA'
  AND s_suppkey IN (SELECT ps_suppkey
					FROM partsupp
						JOIN shipped
							ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey
					WHERE ps_availqty > half
					  AND ps_partkey IN (SELECT p_partkey FROM part
										 WHERE p_name LIKE 'forest%'))
ORDER BY s_name
$$),

('Q21', 'query', '{supplier,lineitem,orders,nation,lineitem}', false, false, $$
WITH by_order AS (
	SELECT l_orderkey, count(DISTINCT l_suppkey) AS suppliers,
		   count(DISTINCT l_suppkey) FILTER (WHERE l_receiptdate > l_commitdate)
			   AS late
	FROM lineitem
	GROUP BY l_orderkey
)
SELECT s_name, count(*) AS waited
FROM supplier
	JOIN lineitem ON l_suppkey = s_suppkey
	JOIN orders ON o_orderkey = lineitem.l_orderkey
	JOIN nation ON n_nationkey = s_nationkey
	JOIN by_order ON by_order.l_orderkey = o_orderkey
WHERE o_orderstatus = 'F'
  AND l_receiptdate > l_commitdate
  AND n_name = 'SAUDI ARABIA'
  AND suppliers > 1 AND late = 1
GROUP BY s_name
ORDER BY waited DESC, s_name
LIMIT 100
$$),

('Q22', 'query', '{customer,orders}', false, false, $$
WITH chosen AS (
	SELECT c_custkey, c_acctbal, substring(c_phone FROM 1 FOR 2) AS code
	FROM customer
	WHERE substring(c_phone FROM 1 FOR 2)
		  IN ('13', '31', '23', '29', '30', '18', '17')
)
SELECT code, count(*), sum(c_acctbal)
FROM chosen
WHERE c_acctbal > (SELECT avg(c_acctbal) FROM chosen WHERE c_acctbal > 0.00)
  AND NOT EXISTS (SELECT FROM orders WHERE o_custkey = c_custkey)
GROUP BY code
ORDER BY code
$$);
