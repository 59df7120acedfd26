/* SPDX-License-Identifier: MIT */
#include "framework/owns.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"

static bool owns(const char *name)
{
	return framework_owns(NULL, name, strlen(name));
}

TEST(names_count_by_whole_namespaces)
{
	CU_ASSERT(owns("System.Threading.Monitor.Wait"));
	CU_ASSERT(owns("System.String"));
	CU_ASSERT(owns("Interop+Sys.Read"));
	CU_ASSERT(owns("Internal.Runtime.InteropServices.ComponentActivator"));
	CU_ASSERT(owns("Microsoft.Extensions.Hosting.Internal.Host"));
	CU_ASSERT(owns("Microsoft.EntityFrameworkCore.DbContext"));
	CU_ASSERT(owns("<PrivateImplementationDetails>"));
	CU_ASSERT(owns("ILStubClass.IL_STUB_PInvoke"));
	CU_ASSERT_FALSE(owns("SystemOfOurs.Monitor.Wait"));
	CU_ASSERT_FALSE(owns("InternalShop.PriceFeed"));
	CU_ASSERT_FALSE(owns("Internal.Shop.PriceFeed"));
	CU_ASSERT_FALSE(owns("Interoperability.Order.Place"));
	CU_ASSERT_FALSE(owns("Microsoft.Contoso.Order"));
	CU_ASSERT_FALSE(owns("MicrosoftShop.Order"));
	CU_ASSERT_FALSE(owns("Microsoft.ExtensionsOfOurs.Order"));
	CU_ASSERT_FALSE(owns("Shop.Bank.Transfer"));
}

TEST(a_file_in_the_folder_of_a_shared_framework_is_its)
{
	ASSERT_UINT(framework_owner_of_file(
			    "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/Any.dll"),
		    OWNER_FRAMEWORK);
	ASSERT_UINT(framework_owner_of_file(
			    "C:\\dotnet\\shared\\Microsoft.AspNetCore.App\\8.0.0\\Any.dll"),
		    OWNER_FRAMEWORK);
	ASSERT_UINT(framework_owner_of_file("/srv/shared/Microsoft.Shop/1.0/Shop.dll"),
		    OWNER_PROGRAM);
	ASSERT_UINT(framework_owner_of_file("/srv/app/System.Net.Http.dll"), OWNER_FRAMEWORK);
	ASSERT_UINT(framework_owner_of_file("/srv/app/mscorlib.dll"), OWNER_FRAMEWORK);
	ASSERT_UINT(framework_owner_of_file("/srv/app/SystemShop.dll"), OWNER_PROGRAM);
	ASSERT_UINT(framework_owner_of_file("/srv/app/Microsoft.Contoso.dll"), OWNER_PROGRAM);
	ASSERT_UINT(framework_owner_of_file("shop.dll"), OWNER_PROGRAM);
	ASSERT_UINT(framework_owner_of_file(""), OWNER_UNKNOWN);
	ASSERT_UINT(framework_owner_of_file(NULL), OWNER_UNKNOWN);
}

SUITE(.name = "owns")
