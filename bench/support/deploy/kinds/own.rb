# frozen_string_literal: true

require "open3"
require "rbconfig"
require_relative "bontebok"

module Bench
  module Deploys
    # `bontebok deploy --wait`. The former generation can still finish its requests when the next deploy begins.
    class Own < Bontebok
      NAME = "bontebok own"
      PROGRAM = [RbConfig.ruby, File.join(Build::ROOT, "exe/bontebok")].freeze

      def contestant = server("--control", control)

      def deploy
        output, status = Open3.capture2e(*PROGRAM, "deploy", "--wait", "--control", control)
        raise Failed, "#{name}: #{status}: #{output}" unless status.success?
      end

      private

      def control = File.join(@dir, "control")
    end
  end
end
