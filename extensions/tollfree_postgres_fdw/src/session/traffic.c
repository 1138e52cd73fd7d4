/*
 * traffic.c
 *	  The bytes that a TCP connection has carried.
 *
 * The kernel counts them for each connection, below any encryption.  The
 * kernel's header with these counters cannot be included together with the C
 * library's header, which PostgreSQL's headers include.  So this file includes
 * none of PostgreSQL's headers.
 */
#include "session/traffic.h"

#ifdef __linux__

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * The bytes received and sent so far, without retransmissions.  Returns false
 * if the socket is not TCP, or the kernel too old (before 4.19).
 */
bool
traffic_count(int socket, int64_t *received, int64_t *sent)
{
	struct tcp_info info = {0};
	socklen_t	size = sizeof(info);

	if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
		size < offsetof(struct tcp_info, tcpi_bytes_retrans) +
		sizeof(info.tcpi_bytes_retrans))
		return false;
	*received = (int64_t) info.tcpi_bytes_received;
	*sent = (int64_t) (info.tcpi_bytes_sent - info.tcpi_bytes_retrans);
	return true;
}

#else

/* Other systems: nothing is counted. */
bool
traffic_count(int socket, int64_t *received, int64_t *sent)
{
	return false;
}

#endif							/* __linux__ */
