# Dockerfile: the distribution's PostgreSQL with both wrappers, all of it from
# the distribution's packages and this checkout.
#
#   docker build --tag tollfree .
#   docker run --detach --name tollfree --publish 5432:5432 tollfree
#   docker exec --interactive --tty tollfree psql            \password sets one
#
# Another suite: --build-arg BASE=debian:trixie-slim --build-arg MAJOR=17.
# The data are in /var/lib/postgresql; make it a volume to keep them.

ARG BASE=debian:bookworm-slim

FROM $BASE AS build
ARG MAJOR=15
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
	build-essential debhelper libpq-dev postgresql-server-dev-all
COPY . /tollfree
RUN /tollfree/tools/make-package $MAJOR

FROM $BASE
ARG MAJOR=15
ENV MAJOR=$MAJOR LANG=C.UTF-8
COPY --from=build /tollfree/build/packages /packages
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
		/packages/postgresql-$MAJOR-tollfree-*.deb \
	&& rm -rf /packages /var/lib/apt/lists/* \
	&& echo "listen_addresses = '*'" >>/etc/postgresql/$MAJOR/main/postgresql.conf \
	&& echo "host all all all scram-sha-256" >>/etc/postgresql/$MAJOR/main/pg_hba.conf
USER postgres
EXPOSE 5432
STOPSIGNAL SIGINT
CMD ["sh", "-c", "exec pg_ctlcluster --foreground $MAJOR main start"]
