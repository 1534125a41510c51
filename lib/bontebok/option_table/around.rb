# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The process as the system sees it.
    module Around
      include OptionValues

      TITLE = "Around the process"

      OPTIONS = [
        Option.new("Directory", FILE, nil,
                   "Folder to change to before anything else: where relative names of files begin. In the " \
                   "configuration file it holds from its line on.",
                   section: TITLE, default_text: "the folder of the start"),
        Option.new("Pidfile", PATH, nil,
                   "File for the number of the process that was started, removed at its end. Where another server " \
                   "that lives has written its own, the start fails.",
                   section: TITLE),
        Option.new("RestartFile", PATH, nil,
                   "File whose change has the application loaded anew: a new master and its workers take the place " \
                   "of the old ones, which serve until then. It is looked at every 2 s, and not with MaxWorkers 0.",
                   section: TITLE)
      ].freeze
    end
  end
end
