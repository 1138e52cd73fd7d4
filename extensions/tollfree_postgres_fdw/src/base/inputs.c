/*
 * inputs.c
 *	  The plans that a plan reads.
 *
 * Subqueries of its expressions are not among them.
 */
#include "postgres.h"

#include "base/inputs.h"

/* The inputs of a plan, in order; a list of the caller's. */
List *
inputs_of_plan(const Plan *plan)
{
	List	   *inputs = NIL;

	switch (nodeTag(plan))
	{
		case T_Append:
			inputs = list_copy(((const Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			inputs = list_copy(((const MergeAppend *) plan)->mergeplans);
			break;
		case T_SubqueryScan:
			inputs = list_make1(((const SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			inputs = list_copy(((const CustomScan *) plan)->custom_plans);
			break;
		default:
			break;
	}
	if (outerPlan(plan) != NULL)
		inputs = lappend(inputs, outerPlan(plan));
	if (innerPlan(plan) != NULL)
		inputs = lappend(inputs, innerPlan(plan));
	return inputs;
}
