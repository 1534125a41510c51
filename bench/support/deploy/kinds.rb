# frozen_string_literal: true

require_relative "kinds/own"
require_relative "kinds/passenger"
require_relative "kinds/puma"
require_relative "kinds/reuse_port"
require_relative "kinds/rollback"
require_relative "kinds/start_server"
require_relative "kinds/systemd"
require_relative "kinds/unicorn"

module Bench
  module Deploys
    KINDS = [Own, Rollback, StartServer, SharedListener, ReusePort, UnixRename, Systemd, PumaHot, PumaPhased,
             Unicorn, Passenger].freeze

    # The kinds with one of these words in their names; nil: all kinds. An unknown word ends the program.
    def self.kinds(words)
      return KINDS if words.nil?

      unknown = words.find { |word| KINDS.none? { |kind| kind.title.include?(word) } }
      abort("no such kind: #{unknown}; there are #{KINDS.map(&:title).join(', ')}") if unknown
      KINDS.select { |kind| words.any? { |word| kind.title.include?(word) } }
    end
  end
end
