# frozen_string_literal: true

require_relative "../../system/error_text"

module Bontebok
  # The answer to the command `watch`: what the server tells about itself, and descriptors of the memory in which its
  # processes show what they do. The command reads the memory itself, again and again, so the server answers once. The
  # connection stays open: its end tells the command that another process answers next time.
  #
  #   { "server": { ... }, "descriptors": ["scoreboard", "totals", ..., "counter", "queue"] }
  #
  # scoreboard, totals and counter can only be read. queue is the receiving end of the shared queue: the command only
  # peeks at its first message (Core::Scoreboard#waiting). Without /proc, or if the memory is in no file, the answer has
  # no descriptors. Then "memory" has the reason, and "server" shows the workers ("processes").
  class WatchAnswer
    # Options that tell how to read the numbers.
    VALUES = %i[threads tag max_queue queue_timeout].freeze

    # status: what the server shows of itself (Control). links: the WorkerLinks.
    def initialize(status, config, links)
      @server = { **status, **VALUES.to_h { |key| [key, config[key]] } }
      @links = links
      @observed = links.observed
      @opened = []
    end

    # client: a ControlClient.
    def give(client)
      return give_workers(client, "they are in no file") unless @observed.scoreboard

      named = files.map { |name, io| [name, open_to_read(io)] }
      named << ["queue", @observed.queue] if @observed.queue
      client.pass(named.map(&:last), server: @server, descriptors: named.map(&:first))
    rescue SystemCallError => e
      give_workers(client, ErrorText.of(e))
    ensure
      @opened.each(&:close)
    end

    private

    def give_workers(client, reason)
      client.pass([], server: { **@server, processes: @links.processes }, descriptors: [], memory: reason)
    end

    # [[name, IO], ...]
    def files
      [["scoreboard", @observed.scoreboard], *@observed.totals.map { |io| ["totals", io] },
       ["counter", @observed.counter]]
    end

    # A copy of the descriptor could also write.
    def open_to_read(io)
      File.new("/proc/self/fd/#{io.fileno}", File::RDONLY).tap { |file| @opened << file }
    end
  end
end
