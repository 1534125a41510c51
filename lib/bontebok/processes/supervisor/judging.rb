# frozen_string_literal: true

require_relative "../canary"

module Bontebok
  class Supervisor
    # The part of Supervisor that judges new generations beside the former one (see Deploy::Steps).
    module Judging
      private

      # Called in the supervisor's loop. Continues or takes back a deploy whose canary is judged.
      def judge_canaries
        @deploys.to_a.each do |child, deploy|
          deploy.end_trial unless child.leaving? || @masters.on_trial?(child)
          case verdict_of(deploy)
          when :good then @masters.go_on(child)
          when :bad then @masters.take_back(child, "has too many errors")
          when :crashed then @masters.take_back(child, "has lost a worker, which has ended by itself")
          when :few then @masters.take_back(child, Canary::FEW)
          when :unknown then @masters.take_back(child, "cannot be judged")
          end
        end
      end

      # An error must not end the supervisor.
      def verdict_of(deploy)
        deploy.judge
      rescue StandardError => e
        @log.error("the canary cannot be judged", e)
        :unknown
      end
    end
  end
end
