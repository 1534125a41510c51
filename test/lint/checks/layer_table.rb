# frozen_string_literal: true

module Lint
  # The table of layers of docs/ARCHITECTURE.md, as data. A layer is a directory of core/src.
  module LayerTable
    # may       layers below it, whose headers it may include and whose functions it may call
    # never     single headers of these layers that it may not include
    # libc      the only headers of the system that it may include; nil: any
    Layer = Struct.new(:may, :never, :libc, keyword_init: true)

    # For layers that only transform bytes: no sockets, no files, no errno.
    PURE_LIBC = %w[assert.h ctype.h inttypes.h limits.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h
                   time.h emmintrin.h arm_neon.h].freeze

    CORE = {
      base: Layer.new(may: %i[], libc: PURE_LIBC),
      http: Layer.new(may: %i[base], libc: PURE_LIBC),
      log: Layer.new(may: %i[base], libc: PURE_LIBC),
      system: Layer.new(may: %i[base log]),
      conn: Layer.new(may: %i[base http log system], never: %w[system/poller.h]),
      worker: Layer.new(may: %i[base http log system conn]),
      lane: Layer.new(may: %i[base http log system conn worker]),
      io_thread: Layer.new(may: %i[base http log system conn worker lane]),
      api: Layer.new(may: %i[base http log system conn worker lane io_thread])
    }.freeze

    # The directories of lib/bontebok, each with the directories whose files it may require. Any file may require the
    # files that lie directly in lib/bontebok: errors and the version.
    LIB = {
      system: [],
      log: %i[system],
      config: %i[system],
      sockets: %i[system],
      workers: %i[system log config sockets],
      processes: %i[system log config sockets workers],
      adapters: %i[system log config sockets workers processes],
      cli: %i[system log config sockets workers processes]
    }.freeze
    LIB_TOP = %w[request_timeout start_error start_failure usage_error version].freeze

    # Every part includes it: it is the contract between the parts.
    PUBLIC_HEADER = "bontebok.h"

    # The layers of the core whose headers the load tool may include.
    LOAD_MAY = %i[base http].freeze

    # The binding gets descriptors. It does not read, write or wait for them.
    BINDING_NEVER = %w[sys/epoll.h sys/uio.h poll.h netinet/tcp.h].freeze

    # Ruby files that open, bind or pass on descriptors, or log to one. No other file uses sockets, and no file serves a
    # connection.
    SOCKET_FILES = %r{\Alib/bontebok/(sockets/\w+|log/log_stream)\.rb\z}

    # The gems that lib/ may require, besides its own files, its binding and Ruby's standard library.
    GEMS = %w[rack rackup].freeze
    BINDING = "bontebok/bontebok"

    # path: a file below core/src. Returns the file's layer; nil: it is in no layer.
    def self.layer_of(path)
      directory, name, deeper = path.split("/")
      directory.to_sym if name && !deeper && CORE.key?(directory.to_sym)
    end
  end
end
