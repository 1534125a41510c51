# frozen_string_literal: true

module Bontebok
  # What the extension was built for.
  module CoreBuild
    # True if the core was built without the calls of Linux: one process serves, and forks nothing. False also if the
    # extension is not built, because the start reports this later.
    def self.one_process?
      require "bontebok/bontebok"
      Core.const_defined?(:PORTABLE) && Core::PORTABLE # an extension of an earlier version has no such constant
    rescue LoadError
      false
    end
  end
end
