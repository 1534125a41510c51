# frozen_string_literal: true

require_relative "../load"
require_relative "../median"

module Bench
  # User-mode instructions per request, counted by callgrind. They hardly depend on other work of the machine.
  class Callgrind
    COMMAND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"].freeze
    KINDS = { "kept" => [], "closed" => ["--close"] }.freeze # of connections => options of the load tool
    REQUESTS = [2000, 12_000].freeze # the difference of both counts excludes the start

    # connections: their number. below: counts only what this function and its callees execute; nil: everything.
    def initialize(rounds:, connections:, below: nil)
      @rounds = rounds
      @connections = connections
      @command = below ? [*COMMAND, "--toggle-collect=#{below}"] : COMMAND
    end

    # The median of the rounds for each of KINDS; nil if valgrind cannot run the server. Yields the words that have to
    # precede the server's command, and a Proc that sends requests to an address. The block returns the server's log.
    def per_request(&serve)
      counts = KINDS.values.map { |options| Array.new(@rounds) { one_round(options, &serve) } }
      counts.map { |rounds| Bench.median(rounds) } if counts.flatten.all?
    end

    private

    def one_round(options)
      counts = REQUESTS.map do |requests|
        send = ->(address) { Load.run(address, "-c", @connections, "-n", requests, *options) }
        Integer(yield(@command, send)[/Collected : (\d+)/, 1] || (return nil))
      end
      (counts[1] - counts[0]).fdiv(REQUESTS[1] - REQUESTS[0])
    end
  end
end
