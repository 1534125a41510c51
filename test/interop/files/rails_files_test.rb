# frozen_string_literal: true

require "test_helper"
require_relative "support/rails71_app"
require_relative "support/rails_files_cases"

# Rails 7.2.
class RailsFilesTest < Interop::TestCase
  include Interop::RailsFilesSite
  include Interop::RailsFilesCases

  def application = Interop::RailsApp
end

# Rails 7.1.
if Support::Length::LONG
  class Rails71FilesTest < Interop::TestCase
    include Interop::RailsFilesSite
    include Interop::RailsFilesCases

    def application = Interop::Rails71App
  end
end
