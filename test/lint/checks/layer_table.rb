# frozen_string_literal: true

module Lint
  # The table of layers of docs/ARCHITECTURE.md, as data. A layer is a directory of core/src.
  module LayerTable
    # may       layers that this layer may use: include their headers and call their functions
    # never     headers in the layers of `may` that the layer may not include
    # libc      the only system headers that the layer may include; nil: any
    Layer = Struct.new(:may, :never, :libc, keyword_init: true)

    # System headers for layers that only transform bytes. These layers use no sockets, no files and no errno.
    PURE_LIBC = %w[assert.h ctype.h inttypes.h limits.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h
                   time.h emmintrin.h arm_neon.h].freeze

    CORE = {
      base: Layer.new(may: %i[], libc: PURE_LIBC),
      http: Layer.new(may: %i[base], libc: PURE_LIBC),
      representation: Layer.new(may: %i[base http], libc: PURE_LIBC),
      log: Layer.new(may: %i[base], libc: PURE_LIBC),
      sockets: Layer.new(may: %i[base]),
      metrics: Layer.new(may: %i[base]),
      system: Layer.new(may: %i[base log sockets metrics]),
      files: Layer.new(may: %i[base http representation sockets system]),
      conn: Layer.new(may: %i[base http representation log sockets metrics system files], never: %w[sockets/poller.h]),
      worker: Layer.new(may: %i[base http representation log sockets metrics system files conn]),
      lane: Layer.new(may: %i[base http representation log sockets metrics system files conn worker]),
      stream: Layer.new(may: %i[base http representation log sockets metrics system files conn worker lane]),
      io_thread: Layer.new(may: %i[base http representation log sockets metrics system files conn worker lane]),
      api: Layer.new(may: %i[base http representation log sockets metrics system files conn worker lane stream
                             io_thread])
    }.freeze

    # For each directory of lib/bontebok: the directories whose files it may require. Every file may require the files
    # of LIB_TOP.
    LIB = {
      system: [],
      status: [],
      log: %i[system],
      config: %i[system],
      sockets: %i[system],
      workers: %i[system status log config sockets],
      processes: %i[system status log config sockets workers],
      embedded: %i[system log config sockets workers],
      adapters: %i[system log config sockets workers processes embedded],
      cli: %i[system status log config sockets workers processes]
    }.freeze
    # Files that lie directly in lib/bontebok.
    LIB_TOP = %w[capybara request_timeout start_error start_failure usage_error version].freeze

    # The contract between the core and its bindings. Every C file may include it.
    PUBLIC_HEADER = "bontebok.h"

    # The layers of the core whose headers the load tool may include.
    LOAD_MAY = %i[base http].freeze

    # The directories of the bindings.
    BINDINGS = %w[ext/bontebok perl/xs].freeze
    # Headers that a binding may not include. A binding passes descriptors on. It does not read, write or poll them.
    BINDING_NEVER = %w[sys/epoll.h sys/uio.h poll.h netinet/tcp.h].freeze
    # A file that waits for processes, and not for clients, with the header that it may include.
    WAITS_FOR_PROCESSES = { "perl/xs/bbp_process.c" => "poll.h" }.freeze
    # Headers of host languages.
    HOST_HEADERS = %r{\A(ruby(/|\.h\z)|rb_|(EXTERN|perl|XSUB|ppport)\.h\z|bbp_)}

    # The Ruby files that may require socket. They open, bind or pass on listeners, or write the log. No Ruby file
    # serves a connection.
    SOCKET_FILES = %r{\Alib/bontebok/(sockets/[\w/]+|log/log_stream|system/loopback|system/no_signal)\.rb\z}

    # The gems that lib/ may require, besides its own files, its binding and Ruby's standard library.
    GEMS = %w[capybara rack rackup].freeze
    BINDING = "bontebok/bontebok"

    # path: a file's path, relative to core/src. Returns the file's layer, or nil if the file is in no layer.
    def self.layer_of(path)
      directory, name, deeper = path.split("/")
      directory.to_sym if name && !deeper && CORE.key?(directory.to_sym)
    end
  end
end
