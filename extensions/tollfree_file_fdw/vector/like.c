/*
 * like.c
 *	  LIKE, with a backslash as the escape, where equal bytes are equal text.
 *
 * The pattern is matched from the left.  When it fails after a %, that % is
 * extended by one character and the match repeated; an earlier % needs no
 * second try, since the last one can match the same characters.
 */
#include "vector/like.h"

/* The remaining bytes of a text or a pattern */
typedef struct LikeRest
{
	const unsigned char *at;
	const unsigned char *end;
} LikeRest;

static inline LikeRest
like_rest(TextRef whole)
{
	LikeRest	rest = {whole.bytes, whole.bytes + whole.length};

	return rest;
}

/* Skips one character, which must exist. */
static inline void
like_skip_char(LikeRest *rest, bool multibyte)
{
	do
		rest->at++;
	while (multibyte && rest->at < rest->end && (*rest->at & 0xC0) == 0x80);
}

bool
like_is_supported(TextRef pattern)
{
	for (uint32_t i = 0; i < pattern.length; i++)
		if (pattern.bytes[i] == '\\' && ++i == pattern.length)
			return false;
	return true;
}

/*
 * Matches the pattern up to its next %, or its end.  If it matches, both are
 * advanced.
 */
static bool
like_match_part(LikeRest *text, LikeRest *pattern, bool multibyte)
{
	while (pattern->at < pattern->end && *pattern->at != '%')
	{
		if (text->at == text->end)
			return false;
		if (*pattern->at == '_')
		{
			like_skip_char(text, multibyte);
			pattern->at++;
			continue;
		}
		if (*pattern->at == '\\')
			pattern->at++;
		if (*text->at++ != *pattern->at++)
			return false;
	}
	return true;
}

bool
like_matches(TextRef text_ref, TextRef pattern_ref, bool multibyte)
{
	LikeRest text = like_rest(text_ref);
	LikeRest	pattern = like_rest(pattern_ref);
	LikeRest	retry_text = {0};
	LikeRest	retry_pattern = {0};

	for (;;)
	{
		if (like_match_part(&text, &pattern, multibyte))
		{
			if (pattern.at == pattern.end && text.at == text.end)
				return true;
			if (pattern.at < pattern.end)
			{
				/* At a %: begin with the empty match. */
				pattern.at++;
				if (pattern.at == pattern.end)
					return true;
				retry_text = text;

				retry_pattern = pattern;
				continue;
			}
		}
		if (retry_text.at == retry_text.end)
			return false;
		like_skip_char(&retry_text, multibyte);
		text = retry_text;

		pattern = retry_pattern;
	}
}
