# frozen_string_literal: true

require_relative "diagnosis"
require_relative "server_text"
require_relative "worker_text"

module Bontebok
  module Status
    # The screen of `bontebok status`: the worst first, without colours.
    module Text
      class << self
        # earlier: the snapshot of the last look, for rates; nil: the first look. zone: as for Time.at; nil: the local
        # zone.
        def screen(snapshot, earlier = nil, zone: nil)
          diagnosis = Diagnosis.new(snapshot, earlier)
          server = ServerText.new(snapshot, diagnosis.rates, zone)
          [*diagnosis.server.map(&:text), server.head, server.numbers, *WorkerText.new(diagnosis).lines,
           *server.details].join("\n")
        end

        # One line for each look, where the output is no terminal: the time, the numbers, the worst cause.
        def line(snapshot, earlier = nil, zone: nil)
          diagnosis = Diagnosis.new(snapshot, earlier)
          numbers = ServerText.new(snapshot, diagnosis.rates, zone).numbers
          [time(snapshot, zone), numbers, *worst(diagnosis.all)].join(" | ")
        end

        private

        def time(snapshot, zone)
          snapshot.time ? Time.at(snapshot.time, in: zone).strftime("%Y-%m-%d %H:%M:%S") : "?"
        end

        def worst(causes)
          cause, worker = causes.first
          return unless cause

          more = " (and #{Units.several(causes.size - 1, 'other cause')})" if causes.size > 1
          "#{"worker #{worker[:number]}: " if worker}#{cause.text}#{more}"
        end
      end
    end
  end
end
