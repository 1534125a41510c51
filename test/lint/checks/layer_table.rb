# frozen_string_literal: true

module Lint
  # docs/ARCHITECTURE.md's table of layers as data. A new file of the core is added here first: its author decides which
  # layer it belongs to.
  module LayerTable
    # modules   names of files in core/src without their ending; h1_* stands for all of HTTP's syntax
    # may       layers whose headers it may include
    # never     single headers that it may not include all the same
    # libc      the only headers of the system that it may include; nil: any
    Layer = Struct.new(:modules, :may, :never, :libc, keyword_init: true)

    # Bytes in, bytes out: no sockets, no files, no errno.
    PURE_LIBC = %w[assert.h ctype.h inttypes.h limits.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h
                   time.h emmintrin.h arm_neon.h].freeze

    CORE = {
      bytes: Layer.new(modules: %w[buf blocks clock code news log_escape log_format log_line log_time],
                       may: %i[bytes], libc: PURE_LIBC),
      http: Layer.new(modules: %w[h1_*], may: %i[bytes http], libc: PURE_LIBC),
      system: Layer.new(modules: %w[sock poller deadline spill spool log_sink log_syslog access_log board own relay
                                    trust],
                        may: %i[bytes system]),
      conn: Layer.new(modules: %w[conn conn_*], may: %i[bytes http system conn], never: %w[poller.h]),
      assemblies: Layer.new(modules: %w[context lane lane_* porter porter_* reply reply_* set worker worker_*],
                            may: %i[bytes http system conn assemblies])
    }.freeze

    # Included by every part: it is the contract between them.
    PUBLIC_HEADER = "bontebok.h"

    # What of the core the load tool may share.
    LOAD_MAY = %i[bytes http].freeze

    # The binding is given descriptors, it does not read, write or wait for them.
    BINDING_NEVER = %w[sys/epoll.h sys/uio.h poll.h netinet/tcp.h].freeze

    # Ruby files that open, bind or pass on descriptors, or log to one. No other has to do with sockets, and none serves
    # a connection.
    SOCKET_FILES = %w[lib/bontebok/listener.rb lib/bontebok/tcp_listener.rb lib/bontebok/unix_listener.rb
                      lib/bontebok/listeners.rb lib/bontebok/siblings.rb lib/bontebok/channel.rb
                      lib/bontebok/log_stream.rb].freeze

    # What lib/ may require besides itself, its binding and Ruby's standard library.
    GEMS = %w[rack rackup].freeze
    BINDING = "bontebok/bontebok"

    # The layer of a file of core/src; nil: it is in no layer.
    def self.layer_of(file)
      name = File.basename(file, ".*")
      CORE.keys.find { |layer| CORE[layer].modules.any? { |pattern| File.fnmatch(pattern, name) } }
    end
  end
end
