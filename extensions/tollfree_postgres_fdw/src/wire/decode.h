/*
 * decode.h
 *	  Fields of common types to values, without their input functions.
 */
#ifndef TOLLFREE_FDW_DECODE_H
#define TOLLFREE_FDW_DECODE_H

/*
 * Converts a field's bytes to a value, in this context; false if the type's
 * input function has to do it.
 */
typedef bool (*FieldDecoder) (const char *field, int length, Datum *value);

/* The decoders of a type */
typedef struct FieldCodec
{
	Oid			type;
	int			binary_length;	/* bytes of a value in binary form, 0 if they
								 * vary */
	bool		text_is_slow;	/* are its text output and input slow? */
	bool		is_bytes;		/* is the binary format the value's bytes? */
	FieldDecoder text;			/* of text, whatever type the remote column
								 * has; NULL: always the input function */
	FieldDecoder binary;		/* of binary format */
} FieldCodec;

extern const FieldCodec *decode_find(Oid type);
extern int	decode_binary_length(const FieldCodec *codec, const char *field,
								 int length);
extern bool decode_is_same_binary(Oid type, int version);

#endif							/* TOLLFREE_FDW_DECODE_H */
